// What wakes an idle long-running worker.

import { describe, expect, test } from "vitest";
import { Wadi, Worker, type WorkerOptions } from "../../../src/index.ts";
import { interceptOperations } from "../../../testing/intercept.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";
import { until } from "../../../testing/until.ts";
import { idleRun, NO_POLLS } from "./idle-run.ts";

const never = () => new Promise<never>(() => {});

describe("an idle worker", () => {
  test("runs what its Wadi submits at once, and nothing wakes it for another queue", async () => {
    const wadi = memoryWadi();
    const worker = new Worker(wadi, NO_POLLS).task("a", ({ payload }) => payload);
    const { running, seen } = await idleRun(worker);
    const before = seen.count;
    await wadi.submit("a", 1, { queue: "elsewhere" });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen.count).toBe(before);
    expect(await wadi.call("a", 2)).toBe(2);
    expect(worker.stats()).toMatchObject({
      state: "running",
      wakeSource: "local",
      slots: 10,
      lastError: null,
    });
    await worker.stop();
    expect(await running).toMatchObject({ claimed: 1, succeeded: 1 });
    expect(worker.stats()).toMatchObject({ state: "stopped", running: 0, totals: { succeeded: 1 } });
  });

  test("takes a task when it becomes due, a retry too, without a poll", async () => {
    const wadi = memoryWadi();
    const worker = new Worker(wadi, { ...NO_POLLS, backoff: { baseMs: 30, capMs: 30 } }).task(
      "a",
      ({ attempt }) => {
        if (attempt === 1) throw new Error("once more");
        return attempt;
      },
    );
    const { running } = await idleRun(worker);
    expect(await wadi.call("a", null, { delayMs: 50, timeoutMs: 20_000 })).toBe(2);
    await worker.stop();
    await running;
  });

  test("takes a task while handlers run and slots are free", async () => {
    const wadi = memoryWadi();
    let release = () => {};
    const worker = new Worker(wadi, { ...NO_POLLS, concurrency: 2 }).task("a", ({ payload }) =>
      payload === "long" ? new Promise<void>((resolve) => (release = resolve)) : payload,
    );
    await worker.background(async () => {
      const long = await wadi.submit("a", "long");
      await until(() => worker.stats().running === 1);
      expect(await wadi.call("a", 5, { timeoutMs: 20_000 })).toBe(5);
      release();
      expect((await wadi.wait(long)).status).toBe("succeeded");
    });
  });

  test("does not poll for due tasks of a name that has no slot left", async () => {
    const wadi = memoryWadi();
    const worker = new Worker(wadi, NO_POLLS).task("slow", never, { concurrency: 1 }).task("quick", () => 1);
    await wadi.submitMany("slow", [{ payload: 1 }, { payload: 2 }]);
    const { running, seen } = await idleRun(worker);
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(seen.count).toBeLessThan(9); // pauses that double, from 50 ms on
    await worker.stop({ graceMs: 0 });
    await running;
  });

  test("finds by polling what other clients submit", async () => {
    const wadi = memoryWadi();
    const other = new Wadi(wadi.executor);
    const worker = new Worker(wadi, { pollMs: 10, maxPollMs: 20 }).task("a", ({ payload }) => payload);
    await worker.background(async () => {
      expect(await other.call("a", 1, { timeoutMs: 20_000 })).toBe(1);
    });
  });
});

describe("a stop", () => {
  test("lets handlers finish, and releases tasks that never started without spending an attempt", async () => {
    const wadi = memoryWadi();
    let release = () => {};
    const worker = new Worker(wadi, { ...NO_POLLS, concurrency: 1, prefetch: 5 }).task(
      "a",
      () => new Promise<void>((resolve) => (release = resolve)),
    );
    const tasks = await wadi.submitMany("a", [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    const running = worker.run();
    await until(() => worker.stats().ready === 2 && worker.stats().running === 1);
    const stopping = worker.stop();
    await until(async () => (await wadi.stats()).default!.queued === 2);
    expect(worker.stats()).toMatchObject({ state: "stopping", running: 1 });
    await wadi.submit("a", 4);
    release();
    await stopping;
    expect(await running).toMatchObject({ claimed: 3, succeeded: 1, released: 2, lost: 0 });
    const after = await Promise.all(tasks.map(({ id }) => wadi.get(id)));
    expect(after.map((task) => [task?.status, task?.attempt])).toEqual([
      ["succeeded", 1],
      ["queued", 0],
      ["queued", 0],
    ]);
  });

  test("aborts handlers that go on for longer than the grace, and queues their tasks again", async () => {
    const wadi = memoryWadi();
    const reasons: unknown[] = [];
    const worker = new Worker(wadi, NO_POLLS)
      .task("heeds", ({ signal }) => {
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason);
            reject(signal.reason);
          });
        });
      })
      .task("hangs", never);
    const { id } = await wadi.submit("heeds", null);
    await wadi.submit("hangs", null);
    const running = worker.run();
    await until(() => worker.stats().running === 2);
    await worker.stop({ graceMs: 20 });
    expect(await running).toMatchObject({ claimed: 2, retried: 2 });
    expect(reasons).toMatchObject([{ taskCode: "handler_timeout" }]);
    expect((await wadi.get(id))?.error?.code).toBe("handler_timeout");
  });
});

test("a handler that blocks the event loop is reported while its lease still holds, and renewed before", async () => {
  const wadi = memoryWadi();
  const order: string[] = [];
  interceptOperations(wadi, "heartbeat", (send) => {
    order.push("heartbeat");
    return send();
  });
  const worker = new Worker(wadi, {
    ...NO_POLLS,
    leaseMs: 2000,
    onError: (error) => order.push(String(error)),
  }).task("greedy", async ({ payload }) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const end = Date.now() + Number(payload);
    while (Date.now() < end);
    await new Promise((resolve) => setTimeout(resolve, 300));
    return "held";
  });
  await worker.background(async () => expect(await wadi.call("greedy", 1200)).toBe("held"));
  expect(order.slice(0, 2)).toEqual([
    "heartbeat",
    expect.stringMatching(/EventLoopBlocked: .* of a lease of 2000 ms while handlers of greedy were running/),
  ]);
});

test("takes no handlers while it runs", async () => {
  const worker = new Worker(memoryWadi()).task("a", () => 1);
  await worker.background(() => {
    expect(() => worker.task("b", () => 1)).toThrow(
      /^this worker is already running; register the handler of "b" before/,
    );
  });
  worker.task("b", () => 1);
});

test("a run without handlers, or with a wrong option, is refused", async () => {
  const wadi = memoryWadi();
  const refusal = { code: "INVALID_ARGUMENT" };
  await expect(new Worker(wadi).run()).rejects.toMatchObject(refusal);
  for (const options of [
    { pollMs: 0 },
    { maxPollMs: 0 },
    { pollMs: 200, maxPollMs: 100 },
    { sweepMs: 999 },
    { retention: {} },
    { retention: [{ olderThanMs: -1 }] },
  ]) {
    expect(() => new Worker(wadi, options as WorkerOptions)).toThrow(expect.objectContaining(refusal));
  }
});

test("a short drain sweeps by the retention rules in its remaining time, once a minute", async () => {
  const clock = new ManualClock();
  const wadi = memoryWadi({ clock: clock.read });
  const worker = new Worker(wadi, { retention: [{ olderThanMs: 500 }] }).task("a", () => 1);
  const end = async () => {
    await wadi.submit("a", null);
    await new Worker(wadi).task("a", () => 1).drain();
    clock.advance(1000);
  };
  const succeeded = async () => (await wadi.stats(["default"])).default!.succeeded;
  await end();
  expect(await worker.drain({ budgetMs: 900 })).toMatchObject({ roundTrips: 1 });
  await wadi.submit("a", null);
  expect(await worker.drain({ maxTasks: 1 })).toMatchObject({ succeeded: 1, more: false, roundTrips: 3 });
  expect(await succeeded()).toBe(1);
  await end();
  expect(await worker.drain()).toMatchObject({ roundTrips: 1 });
  expect(await succeeded()).toBe(2);
});

test("a running worker sweeps", async () => {
  const wadi = memoryWadi();
  const worker = new Worker(wadi, { retention: [{ olderThanMs: 0 }], sweepMs: 1000 }).task("a", () => 1);
  await worker.background(async () => {
    await wadi.call("a", null);
    await until(async () => (await wadi.stats()).default === undefined);
  });
});
