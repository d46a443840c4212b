// Leases are renewed, lost and released.

import { describe, expect, test } from "vitest";
import { LostLease, Wadi, Worker } from "../../../src/index.ts";
import { countOperations } from "../../../testing/intercept.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";

describe("leases", () => {
  test("a drain that is shorter than its lease sends no heartbeat", async () => {
    const wadi = memoryWadi();
    await wadi.submit("a", null);
    const heartbeat = countOperations(wadi, "heartbeat");
    const worker = new Worker(wadi).task("a", () => new Promise((resolve) => setTimeout(resolve, 100)));
    expect(await worker.drain({ budgetMs: 5000 })).toMatchObject({ succeeded: 1 });
    expect(heartbeat.count).toBe(0);
  });

  test("a drain that is longer than its lease keeps it alive", async () => {
    const wadi = memoryWadi();
    await wadi.submit("a", null);
    const worker = new Worker(wadi, { leaseMs: 100 }).task("a", () => new Promise((r) => setTimeout(r, 350)));
    const summary = await worker.drain({ budgetMs: 5000 });
    expect(summary).toMatchObject({ succeeded: 1, lost: 0 });
    expect(summary.roundTrips).toBeGreaterThanOrEqual(5);
  });

  test("a heartbeat notifies the handler of a requested cancel, and the cancel wins", async () => {
    const wadi = memoryWadi();
    const other = new Wadi({ ...wadi.executor, database: {} }); // as if in another process
    const { id } = await wadi.submit("a", null);
    let reason: unknown;
    const worker = new Worker(wadi).task("a", async (context) => {
      await other.cancel(id);
      expect(context.canceled).toBe(false);
      expect(await context.heartbeat()).toEqual({ canceled: true });
      reason = context.signal.reason;
      return "done all the same";
    });
    expect(await worker.drain()).toMatchObject({ canceled: 1, succeeded: 0 });
    expect(reason).toMatchObject({ name: "TaskCanceled" });
    expect(await wadi.get(id)).toMatchObject({ status: "canceled", result: null });
  });

  test("a frozen handler that lost its lease can write nothing, not even under the same worker", async () => {
    const clock = new ManualClock();
    const wadi = memoryWadi({ clock: clock.read });
    const { id } = await wadi.submit("a", null);
    const worker = new Worker(wadi);
    const seen: unknown[] = [];
    worker.task("a", async (context) => {
      if (context.attempt === 2) return "second";
      clock.advance(120_000);
      expect((await worker.drain()).succeeded).toBe(1);
      seen.push(await context.progress(0.5).catch((error: unknown) => error));
      seen.push(await context.submit("child", null).catch((error: unknown) => error));
      expect(context.signal.reason).toBeInstanceOf(LostLease);
      return "first";
    });
    expect(await worker.drain()).toMatchObject({ claimed: 1, lost: 1, succeeded: 0 });
    await expect.poll(() => seen).toEqual([expect.any(LostLease), expect.any(LostLease)]);
    expect(await wadi.get(id)).toMatchObject({
      status: "succeeded",
      result: "second",
      attempt: 2,
      progress: 1,
    });
    expect(await wadi.list({ name: "child" })).toEqual([]);
  });
});
