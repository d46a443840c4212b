// Attempts that a handler postpones by `context.snooze`.

import { describe, expect, test } from "vitest";
import { type TaskContext, Worker, type WorkerEvent } from "../../../src/index.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";

function fixture() {
  const clock = new ManualClock();
  const wadi = memoryWadi({ clock: clock.read });
  return { clock, wadi };
}

describe("a snoozed task", () => {
  test("runs later with the same attempt number, and keeps all but its progress", async () => {
    const { clock, wadi } = fixture();
    const events: WorkerEvent[] = [];
    const attempts: number[] = [];
    const worker = new Worker(wadi, { onEvent: (event) => events.push(event) }).task("a", async (context) => {
      attempts.push(context.attempt);
      if (attempts.length > 1) return "done";
      await context.progress(0.5, "half");
      return context.snooze(60_000);
    });
    const { id } = await wadi.submit("a", { n: 1 }, { key: "k", metadata: { tenant: "t" }, maxAttempts: 1 });
    expect(await worker.drain()).toMatchObject({
      claimed: 1,
      snoozed: 1,
      released: 0,
      retried: 0,
      more: false,
      nextDueAtMs: clock.nowMs + 60_000,
    });
    expect(events.map(({ type }) => type)).toEqual(["claimed", "started", "snoozed", "drained"]);
    expect(events[2]).toMatchObject({ id, attempt: 1, delayMs: 60_000 });
    expect(await wadi.getByKey("k")).toMatchObject({
      id,
      status: "queued",
      attempt: 0,
      progress: null,
      message: null,
      workerId: null,
      error: null,
      crashes: 0,
      payload: { n: 1 },
      metadata: { tenant: "t" },
      runAtMs: clock.nowMs + 60_000,
    });
    expect((await worker.drain()).claimed).toBe(0);
    clock.nowMs += 60_000;
    await worker.drain();
    expect(attempts).toEqual([1, 1]);
    expect(await wadi.get(id)).toMatchObject({ status: "succeeded", result: "done", attempt: 1 });
    expect(await wadi.failures(id)).toEqual([]);
  });

  test("keeps the error and the number of the failure before it", async () => {
    const { clock, wadi } = fixture();
    let runs = 0;
    const worker = new Worker(wadi, { backoff: { baseMs: 1, capMs: 1 } }).task("a", ({ snooze }) => {
      if (++runs === 1) throw new Error("first");
      return snooze(60_000);
    });
    const { id } = await wadi.submit("a", null);
    await worker.drain();
    clock.nowMs += 10;
    await worker.drain();
    expect(runs).toBe(2);
    expect(await wadi.get(id)).toMatchObject({ status: "queued", attempt: 1, error: { message: "first" } });
  });

  test("is canceled if a cancel was requested", async () => {
    const { wadi } = fixture();
    const worker = new Worker(wadi).task("a", async ({ id, snooze }) => {
      await wadi.cancel(id);
      snooze(60_000);
    });
    const { id } = await wadi.submit("a", null);
    expect(await worker.drain()).toMatchObject({ canceled: 1, snoozed: 0 });
    expect((await wadi.get(id))?.status).toBe("canceled");
  });

  test("is one of a batch, the others end as the handler says", async () => {
    const { wadi } = fixture();
    const worker = new Worker(wadi).task(
      "a",
      (contexts) => {
        contexts[1]!.snooze(60_000);
        return new Map(contexts.map(({ id }) => [id, id]));
      },
      { batch: 10 },
    );
    const tasks = await wadi.submitMany("a", [{ payload: 0 }, { payload: 1 }, { payload: 2 }]);
    expect(await worker.drain()).toMatchObject({ claimed: 3, succeeded: 2, snoozed: 1 });
    const now = await Promise.all(tasks.map(({ id }) => wadi.get(id)));
    expect(now.map((task) => task?.status)).toEqual(["succeeded", "queued", "succeeded"]);
  });

  test("releases its place under a limit", async () => {
    const { wadi } = fixture();
    const order: unknown[] = [];
    const worker = new Worker(wadi, { concurrency: 1 }).task("a", ({ payload, snooze }) => {
      order.push(payload);
      if (payload === 0) snooze(60_000);
    });
    const limits = { key: "tenant", concurrency: 1 };
    await wadi.submitMany("a", [
      { payload: 0, limits },
      { payload: 1, limits },
    ]);
    expect(await worker.drain()).toMatchObject({ snoozed: 1, succeeded: 1 });
    expect(order).toEqual([0, 1]);
  });
});

test("a snooze ends the attempt: what the handler returns, throws or reports afterwards is ignored", async () => {
  const { wadi } = fixture();
  const worker = new Worker(wadi, { onError: () => {} }).task("a", ({ snooze, fail, succeed }) => {
    snooze(60_000);
    fail("late");
    succeed(1);
    throw new Error("late");
  });
  const { id } = await wadi.submit("a", null);
  expect(await worker.drain()).toMatchObject({ snoozed: 1, failed: 0, retried: 0 });
  expect(await wadi.get(id)).toMatchObject({ status: "queued", error: null, result: null });
});

test("`settled` has the task as the snooze left it", async () => {
  const { wadi } = fixture();
  let status = "";
  const worker = new Worker(wadi).task("a", async (context) => {
    context.snooze(60_000);
    status = (await context.settled).status;
  });
  await wadi.submit("a", null);
  await worker.drain();
  expect(status).toBe("queued");
});

test.each([0, -1, 1.5, Number.NaN, undefined, "5", 1e15])(
  "refuses a delay of %s, and goes on",
  async (delay) => {
    const { wadi } = fixture();
    const worker = new Worker(wadi).task("a", ({ snooze }: TaskContext) => {
      expect(() => snooze(delay as number)).toThrow(/the delay of snooze must be/);
      return "went on";
    });
    const { id } = await wadi.submit("a", null);
    await worker.drain();
    expect(await wadi.get(id)).toMatchObject({ status: "succeeded", result: "went on" });
  },
);
