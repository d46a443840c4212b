// One drain: its round trips, concurrency, time and summary.

import { describe, expect, test } from "vitest";
import { type TaskContext, Worker } from "../../../src/index.ts";
import { interceptOperations } from "../../../testing/intercept.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";
import { storeOf } from "../../../testing/store.ts";

const ZERO = {
  claimed: 0,
  succeeded: 0,
  failed: 0,
  retried: 0,
  released: 0,
  snoozed: 0,
  canceled: 0,
  recovered: 0,
  lost: 0,
  roundTrips: 1,
  queries: expect.any(Number),
  unhandled: [],
  skipped: [],
  more: false,
  nextDueAtMs: null,
};

/** Resolves when the signal aborts, as a handler that watches it does. */
const untilAborted = ({ signal }: Pick<TaskContext, "signal">) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** A handler that never comes back. */
const never = () => new Promise<never>(() => {});

describe("a drain", () => {
  test("is one round trip if nothing is due", async () => {
    const worker = new Worker(memoryWadi()).task("a", () => 1);
    expect(await worker.drain()).toEqual(ZERO);
  });

  test("settles N tasks that end immediately in N / concurrency round trips and one that finds nothing", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany(
      "a",
      Array.from({ length: 64 }, (_, i) => ({ payload: i })),
    );
    const worker = new Worker(wadi, { concurrency: 16 }).task("a", ({ payload }) => (payload as number) * 2);
    expect(await worker.drain()).toEqual({ ...ZERO, claimed: 64, succeeded: 64, roundTrips: 5 });
    const tasks = await wadi.list({ limit: 100 });
    expect(tasks.map((task) => task.result)).toEqual(tasks.map((task) => (task.payload as number) * 2));
  });

  test("never runs more handlers at a time than its concurrency", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany(
      "a",
      Array.from({ length: 30 }, () => ({ payload: null })),
    );
    let running = 0;
    let most = 0;
    const worker = new Worker(wadi, { concurrency: 4 }).task("a", async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
    });
    expect((await worker.drain()).succeeded).toBe(30);
    expect(most).toBe(4);
  });

  test("stops at maxTasks and says that there is more", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany(
      "a",
      Array.from({ length: 5 }, () => ({ payload: null })),
    );
    const summary = await new Worker(wadi).task("a", () => 1).drain({ maxTasks: 3 });
    expect(summary).toMatchObject({ claimed: 3, succeeded: 3, more: true });
  });

  test("runs only names it has handlers for, in their queue", async () => {
    const wadi = memoryWadi();
    await wadi.submit("other", null);
    await wadi.submit("a", null, { queue: "elsewhere" });
    const unhandled = [{ name: "other", queue: "default", tasks: 1 }];
    expect(await new Worker(wadi).task("a", () => 1).drain()).toEqual({ ...ZERO, unhandled });
    expect((await new Worker(wadi).task("a", () => 1, { queue: "elsewhere" }).drain()).succeeded).toBe(1);
  });

  test("takes tasks in the order of priority, due time and id", async () => {
    const wadi = memoryWadi();
    await wadi.submit("a", "third");
    await wadi.submit("a", "first", { priority: 9 });
    await wadi.submit("a", "second", { priority: 1 });
    const order: unknown[] = [];
    await new Worker(wadi, { concurrency: 1 }).task("a", ({ payload }) => void order.push(payload)).drain();
    expect(order).toEqual(["first", "second", "third"]);
  });

  test("says when the next task is due", async () => {
    const clock = new ManualClock();
    const wadi = memoryWadi({ clock: clock.read });
    await wadi.submit("a", null, { delayMs: 5000 });
    const worker = new Worker(wadi).task("a", () => 1);
    expect(await worker.drain()).toEqual({ ...ZERO, nextDueAtMs: clock.nowMs + 5000 });
    clock.advance(5000);
    expect(await worker.drain()).toMatchObject({ succeeded: 1 });
  });

  test("recovers the tasks of a killed invocation once their lease has expired", async () => {
    const clock = new ManualClock();
    const wadi = memoryWadi({ clock: clock.read });
    const { id } = await wadi.submit("a", null);
    const lane = { queue: "default", name: "a", quota: 1 };
    await storeOf(wadi).claim({
      pools: [{ lanes: [lane], limit: 1 }],
      workerId: "killed",
      leaseMs: 1000,
      limited: false,
    });
    const worker = new Worker(wadi).task("a", ({ attempt }) => attempt);
    expect(await worker.drain()).toEqual({ ...ZERO, nextDueAtMs: clock.nowMs + 1000 });
    clock.advance(1000);
    expect(await worker.drain()).toMatchObject({ recovered: 1, succeeded: 1 });
    expect((await wadi.get(id))?.result).toBe(2);
  });
});

describe("the end of the time", () => {
  test("aborts handlers, and their tasks are retried as timed out", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    const started = Date.now();
    const summary = await new Worker(wadi).task("a", never).drain({ budgetMs: 300 });
    expect(Date.now() - started).toBeLessThan(1000);
    expect(summary).toMatchObject({ claimed: 1, retried: 1, more: false });
    expect(await wadi.get(id)).toMatchObject({
      status: "queued",
      attempt: 1,
      error: { code: "handler_timeout" },
    });
  });

  test("a signal stops a drain as its deadline would", async () => {
    const wadi = memoryWadi();
    await wadi.submit("a", null);
    const stop = new AbortController();
    const worker = new Worker(wadi).task("a", (context) => {
      stop.abort();
      return untilAborted(context);
    });
    expect(await worker.drain({ signal: stop.signal })).toMatchObject({ retried: 1 });
  });

  test("a task that was claimed too late to start is released without spending an attempt", async () => {
    const wadi = memoryWadi();
    const { id, runAtMs } = await wadi.submit("a", null);
    const stop = new AbortController();
    interceptOperations(wadi, "settleAndClaim", async (send) => {
      const cycled = await send();
      stop.abort();
      return cycled;
    });
    const summary = await new Worker(wadi).task("a", never).drain({ signal: stop.signal });
    expect(summary).toMatchObject({ claimed: 1, released: 1, more: true });
    expect(await wadi.get(id)).toMatchObject({ status: "queued", attempt: 0, runAtMs, workerId: null });
  });

  test("a name is not claimed when its declared run does not fit what is left", async () => {
    const wadi = memoryWadi();
    await wadi.submit("first", null, { priority: 1 });
    await wadi.submit("long", null);
    const worker = new Worker(wadi, { concurrency: 1 })
      .task("first", () => new Promise((resolve) => setTimeout(resolve, 150)))
      .task("long", () => 1, { maxRunMs: 850 });
    expect(await worker.drain({ budgetMs: 1000 })).toMatchObject({ claimed: 1, succeeded: 1, more: true });
    expect((await worker.drain({ budgetMs: 1000 })).succeeded).toBe(1);
  });

  test("a name that fits no drain of this length is left to longer ones, and does not ask for another", async () => {
    const wadi = memoryWadi();
    await wadi.submit("long", null);
    await wadi.submit("short", null);
    const worker = new Worker(wadi).task("long", () => 1, { maxRunMs: 10_000 }).task("short", () => 1);
    expect(await worker.drain({ budgetMs: 2000 })).toMatchObject({ claimed: 1, succeeded: 1, more: false });
    expect((await worker.drain({ budgetMs: 20_000 })).succeeded).toBe(1);
  });

  test("a drain in which no name fits is refused", async () => {
    const worker = new Worker(memoryWadi()).task("long", () => 1, { maxRunMs: 10_000 });
    await expect(worker.drain({ budgetMs: 10_000 })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "no handler's maxRunMs fits a drain of 10000 ms; raise budgetMs or lower maxRunMs",
    });
  });

  test("a name is not claimed again when its runs so far were longer than what is left", async () => {
    const wadi = memoryWadi();
    const worker = new Worker(wadi, { concurrency: 1 }).task(
      "a",
      () => new Promise((resolve) => setTimeout(resolve, 120)),
    );
    for (let i = 0; i < 3; i++) await wadi.submit("a", null);
    expect(await worker.drain({ budgetMs: 220 })).toMatchObject({ claimed: 1, more: true });
    expect(await worker.drain({ budgetMs: 220 })).toMatchObject({ claimed: 1, more: true });
  });

  test("a run that was cut off does not keep its name from later drains", async () => {
    const wadi = memoryWadi();
    const worker = new Worker(wadi).task("a", ({ payload }) => payload === "hang" && new Promise(() => {}));
    await wadi.submit("a", "hang", { maxAttempts: 1 });
    expect(await worker.drain({ budgetMs: 100 })).toMatchObject({ failed: 1 });
    await wadi.submit("a", "quick");
    expect(await worker.drain({ budgetMs: 100 })).toMatchObject({ succeeded: 1 });
  });
});
