import Database from "better-sqlite3";
import { describe, expect, test, vi } from "vitest";
import type { Executor } from "../../../src/driver.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker, type WorkerOptions } from "../../../src/index.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";
import { until } from "../../../testing/until.ts";

/** It would wait for hours if nobody told it. */
const NO_POLLS: WorkerOptions = { pollMs: 3_600_000, maxPollMs: 3_600_000 };
const never = () => new Promise<never>(() => {});

/** Claims that reach the database. */
function claims(wadi: Wadi): { count: number } {
  const seen = { count: 0 };
  const execute = wadi.store.session.execute.bind(wadi.store.session);
  wadi.store.session.execute = (operation, call) => {
    if (/claim|settleAndClaim/.test(operation.name)) seen.count++;
    return execute(operation, call);
  };
  return seen;
}

/** A run that has looked once and found nothing. */
async function idleRun(worker: Worker) {
  const seen = claims(worker.wadi);
  const running = worker.run();
  await until(() => seen.count > 0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  return { running, seen };
}

describe("an idle worker", () => {
  test("takes what its own Wadi submits at once, and nothing wakes it for another queue", async () => {
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

  test("does not ask over and over for due tasks of a name that has no slot left", async () => {
    const wadi = memoryWadi();
    const worker = new Worker(wadi, NO_POLLS).task("slow", never, { concurrency: 1 }).task("quick", () => 1);
    await wadi.submitMany("slow", [{ payload: 1 }, { payload: 2 }]);
    const { running, seen } = await idleRun(worker);
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(seen.count).toBeLessThan(9); // pauses that double, from 50 ms on
    await worker.stop({ graceMs: 0 });
    await running;
  });

  test("finds by polling what others submit", async () => {
    const wadi = memoryWadi();
    const other = new Wadi(wadi.executor);
    const worker = new Worker(wadi, { pollMs: 10, maxPollMs: 20 }).task("a", ({ payload }) => payload);
    await worker.background(async () => {
      expect(await other.call("a", 1, { timeoutMs: 20_000 })).toBe(1);
    });
  });
});

describe("a stop", () => {
  test("lets handlers finish, and what never started goes back without spending an attempt", async () => {
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

  test("aborts what goes on for longer than the grace, and queues it again", async () => {
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

describe("a database that fails", () => {
  function fragile() {
    const inner = betterSqlite3(new Database(":memory:"));
    const state = { isAway: false, code: "SQLITE_CANTOPEN" };
    const send =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A) => {
        if (!state.isAway) return call(...args);
        throw Object.assign(new Error("away"), { code: state.code });
      };
    const executor: Executor = { ...inner, run: send(inner.run), batch: send(inner.batch) };
    const wadi = new Wadi(executor, { requestRetry: { tries: 1 } });
    return { wadi, state };
  }

  test("is survived: what handlers ended with is kept, told, and settled once it is back", async () => {
    const { wadi, state } = fragile();
    const told: string[] = [];
    let release: (value: unknown) => void = () => {};
    const worker = new Worker(wadi, {
      ...NO_POLLS,
      onError: (error, { operation }) => told.push(`${operation}: ${(error as Error).name}`),
    }).task("a", () => new Promise((resolve) => (release = resolve)));
    await worker.background(async () => {
      const task = await wadi.submit("a", null);
      await until(() => worker.stats().running === 1);
      state.isAway = true;
      release("kept");
      await until(() => told.length > 1);
      expect(new Set(told)).toEqual(new Set(["settleAndClaim: DriverError"]));
      expect(worker.stats().lastError).toMatchObject({
        operation: "settleAndClaim",
        error: { retryable: true },
      });
      state.isAway = false;
      expect(await wadi.wait(task, { timeoutMs: 20_000 })).toMatchObject({ result: "kept", attempt: 1 });
    });
  });

  test("ends a run only if it refuses its very first round trip", async () => {
    const { wadi, state } = fragile();
    await wadi.stats();
    state.code = "SQLITE_CORRUPT";
    state.isAway = true;
    const worker = new Worker(wadi, NO_POLLS).task("a", () => 1);
    await expect(worker.run()).rejects.toMatchObject({ name: "DriverError", retryable: false });
    expect(worker.stats().state).toBe("stopped");
    state.isAway = false;
    const { running, seen } = await idleRun(worker);
    state.isAway = true;
    const before = seen.count;
    wadi.signals.queued(null);
    await until(() => seen.count > before + 1);
    state.isAway = false;
    expect(await wadi.call("a", null)).toBe(1);
    await worker.stop();
    await running;
  });

  test("does not keep a worker from stopping", async () => {
    const { wadi, state } = fragile();
    const worker = new Worker(wadi, NO_POLLS).task("a", () => 1);
    const { running } = await idleRun(worker);
    state.isAway = true;
    wadi.signals.queued(null);
    await until(() => worker.stats().lastError !== null);
    await worker.stop({ graceMs: 3_600_000 });
    await running;
    expect(worker.stats()).toMatchObject({ state: "stopped", running: 0 });
  });
});

test("a handler that holds the event loop is reported while its lease still holds, and renewed before", async () => {
  const wadi = memoryWadi();
  const order: string[] = [];
  const { heartbeat } = wadi.store;
  vi.spyOn(wadi.store, "heartbeat").mockImplementation((...args) => {
    order.push("heartbeat");
    return heartbeat.apply(wadi.store, args);
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
      /^this worker runs already; register the handler of "b" before/,
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

test("a short drain sweeps by the retention rules in what is left of its time, once a minute", async () => {
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
