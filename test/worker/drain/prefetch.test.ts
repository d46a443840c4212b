// Tasks that are claimed ahead of free slots.

import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { Executor } from "../../../src/driver.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { type TaskContext, Wadi, Worker } from "../../../src/index.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { until } from "../../../testing/until.ts";
import { heldHandler } from "./held-handler.ts";

const some = (count: number, payload: unknown = null) => Array.from({ length: count }, () => ({ payload }));

async function runningIn(wadi: Wadi): Promise<number> {
  return (await wadi.stats()).default!.running;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("round trips", () => {
  const tasks = 4000;

  test.each(pickTargets(["better-sqlite3-memory", "pg"]))("are few, on $name", async (target) => {
    const opened = await target.open();
    try {
      const wadi = new Wadi(opened.executor);
      for (const [prefetch, most] of [
        [500, 0.005],
        [0, 0.07],
      ] as const) {
        for (const handler of [() => null, async () => null]) {
          await wadi.submitMany("a", some(tasks));
          const worker = new Worker(wadi, { concurrency: 16, prefetch }).task("a", handler);
          const summary = await worker.drain();
          expect(summary).toMatchObject({ claimed: tasks, succeeded: tasks, released: 0, lost: 0 });
          expect(summary.roundTrips / tasks).toBeLessThanOrEqual(most);
        }
      }
    } finally {
      await opened.close();
    }
  });
});

describe("a task that is claimed ahead", () => {
  test("is one of at most `prefetch`, and starts as soon as a slot is free", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany("a", some(100));
    const { ends, handler, end } = heldHandler();
    const worker = new Worker(wadi, { concurrency: 3, prefetch: 10 }).task("a", handler);
    const drained = worker.drain();
    for (let round = 0; round < 20; round++) {
      await until(() => ends.length === 3);
      expect(await runningIn(wadi)).toBeLessThanOrEqual(3 + 10 + 3);
      expect(await runningIn(wadi)).toBeGreaterThan(3);
      end(2);
    }
    await until(() => ends.length === 3);
    const timer = setInterval(() => end(3), 0);
    expect(await drained).toMatchObject({ claimed: 100, succeeded: 100 });
    clearInterval(timer);
  });

  test("is released when the drain is stopped, without spending an attempt", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany("a", some(20));
    const { ends, handler, end } = heldHandler();
    const stop = new AbortController();
    const worker = new Worker(wadi, { concurrency: 2, prefetch: 6 }).task("a", handler);
    const drained = worker.drain({ signal: stop.signal });
    await until(() => ends.length === 2);
    stop.abort();
    end(2);
    expect(await drained).toMatchObject({ claimed: 8, succeeded: 2, released: 6, more: true });
    const tasks = await wadi.list({ status: "queued", limit: 100 });
    expect(tasks.map(({ attempt }) => attempt)).toEqual(Array(18).fill(0));
  });

  test("is released when its name no longer fits the time that is left", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany("a", some(4));
    const worker = new Worker(wadi, { concurrency: 1, prefetch: 10 }).task(
      "a",
      () => new Promise((resolve) => setTimeout(resolve, 120)),
      { maxRunMs: 400 },
    );
    const summary = await worker.drain({ budgetMs: 600 });
    expect(summary).toMatchObject({ claimed: 4, failed: 0, retried: 0, more: true });
    expect(summary.released).toBeGreaterThan(0);
    expect(summary.succeeded + summary.released).toBe(4);
  });

  test("has its lease renewed with those that run", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany("a", some(4));
    const worker = new Worker(wadi, { concurrency: 1, prefetch: 10, leaseMs: 400 }).task(
      "a",
      () => new Promise((resolve) => setTimeout(resolve, 180)),
    );
    expect(await worker.drain({ budgetMs: 5000 })).toMatchObject({ claimed: 4, succeeded: 4, lost: 0 });
  });

  test("never starts once it is canceled", async () => {
    const wadi = memoryWadi();
    const [, second] = await wadi.submitMany("a", [{ payload: 1 }, { payload: 2 }]);
    const seen: unknown[] = [];
    const worker = new Worker(wadi, { concurrency: 1, prefetch: 1, leaseMs: 400 }).task(
      "a",
      async ({ payload }) => {
        seen.push(payload);
        await wadi.cancel(second!.id);
        await new Promise((resolve) => setTimeout(resolve, 400));
      },
    );
    expect(await worker.drain({ budgetMs: 5000 })).toMatchObject({ succeeded: 1, canceled: 1 });
    expect(seen).toEqual([1]);
  });
});

describe("a resource", () => {
  /** Names that share three slots; `capped` ones may use one of them each. */
  function sharing(capped: readonly string[], free: readonly string[], prefetch: number) {
    const wadi = memoryWadi();
    const calls: string[] = [];
    const { handler: wait, end } = heldHandler();
    const options = { resources: { gpu: 3 }, prefetch, pollMs: 5, maxPollMs: 5 };
    const worker = new Worker(wadi, options);
    const handler = ({ task }: TaskContext) => {
      calls.push(task.name);
      return wait();
    };
    for (const name of capped) worker.task(name, handler, { resource: "gpu", concurrency: 1 });
    for (const name of free) worker.task(name, handler, { resource: "gpu" });
    const stop = async () => {
      const timer = setInterval(() => end(3), 0);
      await worker.stop({ graceMs: 0 });
      clearInterval(timer);
    };
    return { wadi, worker, calls, stop };
  }

  test("keeps no slot free behind the backlog of a name that may use only one", async () => {
    const { wadi, worker, calls, stop } = sharing(["train", "tune"], ["render"], 20);
    await wadi.submitMany("train", some(60));
    const running = worker.run();
    await until(() => calls.length === 1);
    await wadi.submitMany("tune", some(60));
    await until(() => calls.length === 2);
    await wadi.submit("render", null);
    await until(() => calls.length === 3);
    expect(calls).toEqual(["train", "tune", "render"]);
    expect(worker.stats().ready).toBeLessThanOrEqual(20 + 3);
    await stop();
    expect(await running).toMatchObject({ lost: 0, failed: 0 });
  });

  test("asks for nothing while all its names are at their own limits", async () => {
    const { wadi, worker, calls, stop } = sharing(["train"], [], 0);
    await wadi.submitMany("train", some(60));
    const running = worker.run();
    await until(() => calls.length === 1);
    const { roundTrips } = worker.stats().totals;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(worker.stats().totals.roundTrips).toBeLessThanOrEqual(roundTrips + 1);
    await stop();
    await running;
  });
});

test("handlers go on while a round trip is in flight, and the next claim is sent before no task is ready", async () => {
  const inner = betterSqlite3(new Database(":memory:"));
  const reader = new Wadi(inner);
  await reader.submitMany("a", some(200));
  let started = 0;
  const idleAt: number[] = [];
  /** Each answer comes after eight more tasks have started, if there are any to start. */
  const slow: Executor = {
    ...inner,
    async batch(statements) {
      const before = started;
      const turns = performance.now() + 200;
      while (started < before + 8 && started > 0 && performance.now() < turns) await turn();
      if (started > 0 && started < before + 8) idleAt.push(started);
      return inner.batch(statements);
    },
  };
  const worker = new Worker(new Wadi(slow), { concurrency: 2, prefetch: 40 }).task("a", async () => {
    started++;
    await turn();
  });
  expect(await worker.drain()).toMatchObject({ succeeded: 200 });
  // Only at the end is nothing left to start.
  expect(idleAt.filter((at) => at < 200)).toEqual([]);
});

test("a settlement does not wait for a slow neighbour", async () => {
  const wadi = memoryWadi();
  await wadi.submitMany("a", [{ payload: "quick" }, ...some(10, "slow")]);
  const { handler, end } = heldHandler();
  const worker = new Worker(wadi, { concurrency: 2, prefetch: 20 }).task("a", ({ payload }: TaskContext) =>
    payload === "quick" ? 1 : handler(),
  );
  const drained = worker.drain();
  await until(async () => (await wadi.stats()).default!.succeeded === 1);
  const timer = setInterval(() => end(2), 0);
  await drained;
  clearInterval(timer);
});

test("a handler that never waits leaves turns of the event loop to others", async () => {
  const wadi = memoryWadi();
  await wadi.submitMany("a", some(40));
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const worker = new Worker(wadi, { concurrency: 1, prefetch: 100 }).task("a", () => {
    const end = performance.now() + 5;
    while (performance.now() < end);
  });
  await worker.drain();
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
});
