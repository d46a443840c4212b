// Handlers that go on after their attempt has ended.

import { describe, expect, test } from "vitest";
import {
  type DrainSummary,
  type ErrorContext,
  type TaskContext,
  TaskError,
  Wadi,
  Worker,
  type WorkerOptions,
} from "../../../src/index.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { until } from "../../../testing/until.ts";

const GOES_ON_MS = 15;
const some = (count: number) => Array.from({ length: count }, (_, n) => ({ payload: `${n}`.repeat(100) }));
const pause = (ms = GOES_ON_MS) => new Promise((resolve) => setTimeout(resolve, ms));

type End = (context: TaskContext) => unknown;
const ENDS: [name: string, end: End][] = [
  ["succeed", (context) => context.succeed(1)],
  ["fail", (context) => context.fail(new TaskError("no", { retryable: false }))],
  ["succeedWith", (context) => context.succeedWith([], 1)],
];

/** A handler that goes on after the outcome of its attempt, and how many of its calls did so at a time. */
function goingOn(end: End, ms = GOES_ON_MS) {
  const seen = { calls: 0, running: 0, most: 0 };
  const handler = async (context: TaskContext) => {
    seen.calls++;
    seen.most = Math.max(seen.most, ++seen.running);
    await end(context);
    await pause(ms);
    seen.running--;
  };
  return { seen, handler };
}

const settled = ({ succeeded, failed }: DrainSummary) => succeeded + failed;

describe.each(pickTargets(["better-sqlite3-memory", "libsql-http", "pg"]))("on $name", (target) => {
  test("a slot, a resource and the drain's end wait for the call, whose outcome is stored sooner", async () => {
    const { executor, close } = await target.open();
    const wadi = new Wadi(executor);
    for (const [name] of ENDS) await wadi.submitMany(name, some(3));
    const { id } = await wadi.submit("last", null);
    let stored: unknown;
    const worker = new Worker(wadi, { resources: { disk: 1 } });
    const handlers = ENDS.map(([name, end]) => {
      const { seen, handler } = goingOn(end);
      worker.task(name, handler, { resource: "disk" });
      return seen;
    });
    worker.task("last", async (context) => {
      context.succeed("early");
      await until(async () => (await wadi.get(id))!.status === "succeeded");
      stored = (await wadi.get(id))!.result;
    });
    const summary = await worker.drain();
    expect(handlers.map(({ running, calls }) => [running, calls])).toEqual(Array(3).fill([0, 3]));
    expect(Math.max(...handlers.map(({ most }) => most))).toBe(1);
    expect(summary).toMatchObject({ claimed: 10, succeeded: 7, failed: 3, lost: 0, more: false });
    expect(stored).toBe("early");
    await close();
  });

  test("an attempt starts in this worker when the call of the one before has returned", async () => {
    const { executor, close } = await target.open();
    const wadi = new Wadi(executor);
    await wadi.submitMany(
      "a",
      some(2).map((entry) => ({ ...entry, maxAttempts: 3 })),
    );
    const inCall = new Map<string, number>();
    let overlaps = 0;
    const worker = new Worker(wadi, { pollMs: 5, maxPollMs: 10 }).task("a", async (context) => {
      const calls = (inCall.get(context.id) ?? 0) + 1;
      inCall.set(context.id, calls);
      if (calls > 1) overlaps++;
      context.fail(new TaskError("again", { delayMs: 0 }));
      await pause(60);
      inCall.set(context.id, calls - 1);
    });
    const running = worker.run();
    await until(async () => (await wadi.stats()).default!.failed === 2);
    await worker.stop();
    expect(await running).toMatchObject({ claimed: 6, retried: 4, failed: 2, lost: 0, released: 0 });
    expect(overlaps).toBe(0);
    await close();
  });
});

describe("a call that goes on after its outcome", () => {
  const CASES: [name: string, options: WorkerOptions, most: number][] = [
    ["concurrency", { concurrency: 1 }, 1],
    ["concurrency with prefetch", { concurrency: 2, prefetch: 9 }, 2],
    ["bytes in flight", { concurrency: 9, prefetch: 9, maxInFlightBytes: 250 }, 2],
  ];
  for (const [name, end] of ENDS)
    test.each(CASES)(`keeps to %s after ${name}`, async (_, options, most) => {
      const wadi = memoryWadi();
      await wadi.submitMany("a", some(9));
      const { seen, handler } = goingOn(end, 4);
      const worker = new Worker(wadi, options).task("a", handler);
      let summary = await worker.drain();
      while (summary.more) summary = await worker.drain();
      expect(seen).toEqual({ calls: 9, running: 0, most });
      expect((await wadi.stats()).default).toMatchObject({ queued: 0, running: 0 });
    });

  test.each(ENDS)("holds the place of its task under a fleet-wide limit, after %s", async (_, end) => {
    const wadi = memoryWadi();
    const limited = (count: number, key: string, concurrency: number) =>
      some(count).map((entry) => ({ ...entry, limits: { key, concurrency } }));
    await wadi.submitMany("one", limited(5, "one", 1));
    await wadi.submitMany("two", limited(6, "two", 2));
    const [one, two] = [goingOn(end), goingOn(end)];
    const worker = new Worker(wadi, { pollMs: 5, maxPollMs: 10, prefetch: 5 })
      .task("one", one.handler)
      .task("two", two.handler);
    const running = worker.run();
    await until(() => one.seen.calls + two.seen.calls === 11);
    await worker.stop();
    expect(settled(await running)).toBe(11);
    expect(one.seen).toEqual({ calls: 5, running: 0, most: 1 });
    expect(two.seen).toMatchObject({ calls: 6, running: 0, most: 2 });
  });

  test("holds the slot of its batch, whose other tasks end when it returns", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany("a", some(12));
    const seen = { running: 0, most: 0, calls: 0 };
    const worker = new Worker(wadi, { concurrency: 1 }).task(
      "a",
      async (contexts) => {
        seen.calls++;
        seen.most = Math.max(seen.most, ++seen.running);
        for (const context of contexts.slice(seen.calls % 2)) context.succeed(1);
        await pause();
        seen.running--;
      },
      { batch: 3 },
    );
    expect(await worker.drain()).toMatchObject({ succeeded: 12, lost: 0 });
    expect(seen).toEqual({ running: 0, most: 1, calls: 4 });
  });

  test("is waited for by stop", async () => {
    const wadi = memoryWadi();
    await wadi.submit("a", 1);
    const { seen, handler } = goingOn((context) => context.succeed(1), 50);
    const worker = new Worker(wadi).task("a", handler);
    const running = worker.run();
    await until(async () => (await wadi.stats()).default!.succeeded === 1);
    expect(worker.stats().running).toBe(1);
    await worker.stop();
    expect(seen).toEqual({ calls: 1, running: 0, most: 1 });
    await running;
  });

  test("that never returns ends with the grace of a stop, and its slot is free after its maxRunMs", async () => {
    const wadi = memoryWadi();
    const never = ({ succeed }: TaskContext) => {
      succeed(1);
      return new Promise<never>(() => {});
    };
    const worker = new Worker(wadi, { pollMs: 5, maxPollMs: 10, concurrency: 1 })
      .task("bounded", never, { maxRunMs: 30 })
      .task("endless", never);
    await wadi.submit("bounded", null);
    await wadi.submit("bounded", null);
    const running = worker.run();
    await until(async () => (await wadi.stats()).default!.succeeded === 2);
    await wadi.submit("endless", null);
    await until(async () => (await wadi.stats()).default!.succeeded === 3);
    await worker.stop({ graceMs: 10 });
    expect(await running).toMatchObject({ claimed: 3, succeeded: 3, lost: 0, released: 0 });
  });

  test("is stopped and cut off at its maxRunMs and when the drain is over, and its task stays succeeded", async () => {
    const wadi = memoryWadi();
    const tasks = [await wadi.submit("limited", 1), await wadi.submit("unlimited", 1)];
    const aborted: string[] = [];
    const never = ({ succeed, signal, task }: TaskContext) => {
      signal.addEventListener("abort", () => aborted.push(`${task.name} ${signal.reason.message}`));
      succeed(1);
      return new Promise<never>(() => {});
    };
    const worker = new Worker(wadi).task("limited", never, { maxRunMs: 20 }).task("unlimited", never);
    expect(await worker.drain({ budgetMs: 400 })).toMatchObject({ succeeded: 2, retried: 0, lost: 0 });
    expect(aborted).toEqual([
      "limited the handler ran longer than its maxRunMs of 20 ms",
      "unlimited the handler ran until its drain was over",
    ]);
    for (const { id } of tasks) expect((await wadi.get(id))!.status).toBe("succeeded");
  });

  test("reports what it throws to onError, once, with its task", async () => {
    const wadi = memoryWadi();
    for (const [name] of ENDS) await wadi.submit(name, null);
    await wadi.submitMany("batch", some(2));
    await wadi.submit("unawaited", null);
    const reports: [error: unknown, context: ErrorContext][] = [];
    const worker = new Worker(wadi, { onError: (...report) => void reports.push(report) });
    for (const [name, end] of ENDS) {
      worker.task(name, async (context) => {
        await end(context);
        throw new Error(`late ${name}`);
      });
    }
    worker.task(
      "batch",
      (contexts) => {
        for (const context of contexts) context.succeed(1);
        throw new Error("late batch");
      },
      { batch: 2 },
    );
    worker.task("unawaited", (context) => {
      void context.succeedWith([], 1);
      throw new Error("late unawaited");
    });
    expect(await worker.drain()).toMatchObject({ succeeded: 5, failed: 1, retried: 0 });
    const reported = reports.map(([error, { operation, task }]) => [
      (error as Error).message,
      operation,
      task?.name,
    ]);
    const names = [...ENDS.map(([name]) => name), "batch", "unawaited"];
    expect(reported.sort()).toEqual(names.map((name) => [`late ${name}`, "handler", name]).sort());
    expect(reports[0]![1].task).toMatchObject({ id: expect.any(String), queue: "default", attempt: 1 });
  });

  test("holds its slot after a lost lease, and what it throws then is reported", async () => {
    const clock = new ManualClock();
    const wadi = memoryWadi({ clock: clock.read });
    await wadi.submit("a", null);
    const order: string[] = [];
    const errors: unknown[] = [];
    const worker = new Worker(wadi, {
      concurrency: 1,
      pollMs: 5,
      maxPollMs: 10,
      onError: (error, { task }) => errors.push([(error as Error).message, task?.attempt]),
    })
      .task("a", async ({ attempt, signal, heartbeat }) => {
        if (attempt > 1) return void order.push("a again");
        order.push("a begins");
        clock.advance(60_001);
        await new Worker(wadi).task("c", () => 1).drain(); // recovers the lease
        await expect(heartbeat()).rejects.toThrow(/lease/);
        expect(signal.aborted).toBe(true);
        await wadi.submit("b", null);
        await pause(60);
        order.push("a ends");
        throw new Error("late");
      })
      .task("b", () => void order.push("b"));
    const running = worker.run();
    await until(() => order.length === 4);
    await worker.stop();
    expect(await running).toMatchObject({ claimed: 3, succeeded: 2, lost: 1 });
    expect(order.slice(0, 2)).toEqual(["a begins", "a ends"]);
    expect(errors).toEqual([["late", 1]]);
  });

  test("is notified that its lease is lost, and waited for, when its worker claims the task again", async () => {
    const clock = new ManualClock();
    const wadi = memoryWadi({ clock: clock.read });
    const { id } = await wadi.submit("a", null);
    const order: string[] = [];
    const options = { concurrency: 3, pollMs: 5, maxPollMs: 10 };
    const worker = new Worker(wadi, options).task("a", async ({ attempt, signal }) => {
      order.push(`${attempt} begins`);
      if (attempt > 1) return "again";
      clock.advance(60_001); // the claim of the next poll recovers the lease and claims the task again
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      order.push(signal.reason.name);
      await pause(30);
      order.push("1 ends");
    });
    const running = worker.run();
    await until(async () => (await wadi.get(id))!.status === "succeeded");
    await worker.stop();
    expect(await running).toMatchObject({ claimed: 2, succeeded: 1, lost: 1, recovered: 1 });
    expect(order).toEqual(["1 begins", "LostLease", "1 ends", "2 begins"]);
  });
});
