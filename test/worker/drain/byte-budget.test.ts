// How many bytes of payloads a drain holds.

import { describe, expect, test } from "vitest";
import { type Wadi, Worker, type WorkerOptions } from "../../../src/index.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { until } from "../../../testing/until.ts";
import { heldHandler } from "./held-handler.ts";

const some = (count: number, payload: unknown) => Array.from({ length: count }, () => ({ payload }));

async function runningIn(wadi: Wadi): Promise<number> {
  return (await wadi.stats()).default!.running;
}

describe("bytes of payload", () => {
  const payload = "x".repeat(998);

  test("are bounded in flight, including those claimed ahead", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany("a", some(60, payload));
    const { ends, handler, end } = heldHandler();
    const worker = new Worker(wadi, { concurrency: 4, prefetch: 20, maxInFlightBytes: 6000 }).task(
      "a",
      handler,
    );
    const drained = worker.drain();
    const timer = setInterval(() => end(1), 1);
    let most = 0;
    while (ends.length > 0 || most === 0) {
      most = Math.max(most, await runningIn(wadi));
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (most > 0 && (await wadi.stats()).default!.queued === 0) break;
    }
    expect(await drained).toMatchObject({ succeeded: 60 });
    clearInterval(timer);
    expect(most).toBeLessThanOrEqual(6);
    expect(most).toBeGreaterThan(2);
  });

  test("never keep a single large task from running", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany("a", some(5, payload));
    let running = 0;
    let most = 0;
    const worker = new Worker(wadi, { concurrency: 4, maxInFlightBytes: 10 }).task("a", async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
    });
    expect(await worker.drain()).toMatchObject({ succeeded: 5, lost: 0 });
    expect(most).toBe(1);
  });

  test("are bounded ahead of the slots, separately from those in flight", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany("a", some(40, payload));
    const { ends, handler, end } = heldHandler();
    const worker = new Worker(wadi, { concurrency: 4, prefetch: { tasks: 20, bytes: 3000 } }).task(
      "a",
      handler,
    );
    const drained = worker.drain();
    for (let round = 0; round < 8; round++) {
      await until(() => ends.length === 4);
      await until(async () => (await runningIn(wadi)) <= 4 + 3);
      end(4);
    }
    const timer = setInterval(() => end(4), 1);
    expect(await drained).toMatchObject({ succeeded: 40 });
    clearInterval(timer);
  });
});

describe("a task that exceeds a budget of bytes is released", () => {
  type Setup = (worker: Worker, handler: () => Promise<void>) => Worker;

  /** Round trips of a worker whose handlers do not end, while tasks of three sizes wait. */
  async function roundTrips(options: WorkerOptions, setup: Setup): Promise<number> {
    const wadi = memoryWadi();
    for (let n = 0; n < 60; n++) await wadi.submit(n % 2 ? "b" : "a", "x".repeat([100, 20, 5][n % 3]!));
    const { handler, end } = heldHandler();
    const worker = setup(new Worker(wadi, { pollMs: 1000, ...options }), handler);
    const running = worker.run();
    await until(() => worker.stats().running > 0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { totals } = worker.stats();
    const timer = setInterval(() => end(9), 0);
    await worker.stop({ graceMs: 0 });
    clearInterval(timer);
    expect(await running).toMatchObject({ lost: 0 });
    return totals.roundTrips;
  }

  test.each<[name: string, options: WorkerOptions, setup: Setup]>([
    [
      "two pools",
      { concurrency: 1, prefetch: { tasks: 9, bytes: 91 } },
      (worker, handler) => worker.task("a", handler).task("b", handler, { concurrency: 1 }),
    ],
    [
      "a resource and a batch that never comes",
      { resources: { gpu: 2 }, prefetch: { tasks: 20, bytes: 36 } },
      (worker, handler) =>
        worker
          .task("a", handler, { resource: "gpu", concurrency: 1 })
          .task("never", handler, { resource: "gpu", concurrency: 1, batch: 2 }),
    ],
    [
      "bytes in flight",
      { concurrency: 4, prefetch: 38, maxInFlightBytes: 150 },
      (worker, handler) => worker.task("a", handler).task("b", handler),
    ],
  ])("and is not claimed again before there is room: %s", async (_, options, setup) => {
    expect(await roundTrips(options, setup)).toBeLessThan(15);
  });
});
