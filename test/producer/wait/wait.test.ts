// Waits for one task.

import { describe, expect, test, vi } from "vitest";
import {
  defineTask,
  TaskCanceled,
  TaskError,
  TaskFailed,
  TaskTimeout,
  Wadi,
  Worker,
} from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { interceptOperations } from "../../../testing/intercept.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";
import { storeOf } from "../../../testing/store.ts";

const FAST = { pollMs: 1, maxPollMs: 1 };

describe("wait", () => {
  test("returns the whole task once it is terminal, whatever the outcome", async () => {
    const wadi = memoryWadi();
    const good = await wadi.submit("good", 20);
    const bad = await wadi.submit("bad", null, { maxAttempts: 1 });
    const gone = await wadi.submit("gone", null);
    const waits = Promise.all([wadi.wait(good, FAST), wadi.wait(bad.id, FAST), wadi.wait(gone.id, FAST)]);
    await wadi.cancel(gone.id);
    await new Worker(wadi)
      .task("good", ({ payload }) => (payload as number) + 1)
      .task("bad", () => {
        throw new Error("no");
      })
      .drain();
    expect((await waits).map((task) => [task.status, task.result])).toEqual([
      ["succeeded", 21],
      ["failed", null],
      ["canceled", null],
    ]);
  });

  test("polls id and status only, and reads the whole row once", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    const reads: string[] = [];
    interceptOperations(wadi, "get", (send) => {
      reads.push("row");
      return send();
    });
    interceptOperations(wadi, "getStatus", async (send) => {
      reads.push("status");
      if (reads.length === 3) await wadi.cancel(id);
      return send();
    });
    await wadi.wait(id, FAST);
    expect(reads).toEqual(["status", "status", "status", "row"]);
  });

  test("a timeout leaves the task running and says which state it is stuck in", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null, { key: "k", queue: "q" });
    const error = await wadi.waitByKey("k", { ...FAST, timeoutMs: 5 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TaskTimeout);
    expect(error).toMatchObject({
      code: "TASK_TIMEOUT",
      retryable: true,
      id,
      key: "k",
      task: { id, status: "queued" },
      message:
        'waited 5 ms for the task of key "k": it was never claimed; ' +
        'does a worker with a handler for "a" drain the queue "q"?',
    });
    expect(await wadi.getStatus(id)).toMatchObject({ id, status: "queued" });
  });

  const DATE = String.raw`2\d{3}-\d\d-\d\dT[\d:.]+Z`;
  test.each([
    ["a running task", /it is running attempt 1 of 3; wait longer/],
    [
      "a running task whose cancel was requested",
      new RegExp(`its cancel was requested at ${DATE} and waits for the handler of attempt 1 to stop`),
    ],
    [
      "a task in backoff",
      new RegExp(`it failed 1 of 3 attempts and is in backoff until ${DATE} \\(last error: handler_error\\)`),
    ],
    [
      "a task between attempts",
      /it failed 1 of 3 attempts and is queued again \(last error: handler_error\)/,
    ],
    ["a delayed task", new RegExp(`it is delayed until ${DATE}; wait longer`)],
    [
      "no task of this id",
      /there is no such task; was it purged, or is the transaction that submits it still open\?/,
    ],
    ["no task of this key", /the key has no task; was it submitted\?/],
  ])("the timeout of %s says so", async (what, message) => {
    const clock = new ManualClock();
    const wadi = memoryWadi({ clock: clock.read });
    const { id } = await wadi.submit("a", null, { delayMs: what === "a delayed task" ? 60_000 : 0 });
    if (what.startsWith("a running")) {
      await storeOf(wadi).claim({
        pools: [{ lanes: [{ queue: "default", name: "a", quota: 1 }], limit: 1 }],
        workerId: "w",
        leaseMs: 9999,
        limited: false,
      });
      if (what.endsWith("requested")) await wadi.cancel(id);
    } else if (what.startsWith("a task")) {
      const backoff = { baseMs: 60_000, capMs: 60_000 };
      await new Worker(wadi, { backoff }).task("a", () => Promise.reject(new Error("no"))).drain();
      if (what.endsWith("attempts")) clock.advance(120_000);
    }
    const options = { ...FAST, timeoutMs: 0 };
    const wait = what.endsWith("key")
      ? wadi.waitByKey("k", options)
      : wadi.wait(what.startsWith("no") ? "x" : id, options);
    await expect(wait).rejects.toThrow(message);
  });

  test("a task that ends just as the time is up is returned", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    interceptOperations(wadi, "get", async (send) => {
      await new Worker(wadi).task("a", () => 42).drain();
      return send();
    });
    expect(await wadi.wait(id, { timeoutMs: 0 })).toMatchObject({ status: "succeeded", result: 42 });
  });

  test("a signal ends the wait with its reason", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    const stop = new AbortController();
    const wait = wadi.wait(id, { signal: stop.signal });
    stop.abort(new Error("request closed"));
    await expect(wait).rejects.toThrow("request closed");
  });

  test("leaves no timer that would keep the process alive", async () => {
    const { executor } = memoryWadi();
    let signal: ((channel: string, id: string) => void) | undefined;
    let mute = false;
    const wadi = new Wadi({
      ...executor,
      run: (statement) => (mute ? new Promise(() => {}) : executor.run(statement)),
      listen: async (_channels, onSignal) => {
        signal = onSignal;
        return () => {};
      },
    });
    const { id } = await wadi.submit("a", null);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const waiting = wadi.wait(id, { pollMs: 60_000, maxPollMs: 60_000 });
      await vi.waitUntil(() => vi.getTimerCount() === 1);
      await wadi.cancel(id);
      signal!("", id);
      expect((await waiting).status).toBe("canceled");
      await internalsOf(wadi).notifier.close(); // its timer for an unused connection keeps no process alive
      expect(vi.getTimerCount()).toBe(0);

      mute = true;
      const stop = new AbortController();
      const unanswered = wadi.wait(id, { signal: stop.signal });
      stop.abort(new Error("request closed"));
      await expect(unanswered).rejects.toThrow("request closed");
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("waitByKey", () => {
  test("waits for a key that has no task yet", async () => {
    const wadi = memoryWadi();
    const wait = wadi.waitByKey("k", FAST);
    await wadi.submit("a", 1, { key: "k" });
    await new Worker(wadi).task("a", () => "done").drain();
    expect((await wait).result).toBe("done");
  });

  test("a replace moves the wait to the new task", async () => {
    const wadi = memoryWadi();
    const old = await wadi.submit("a", "old", { key: "k" });
    let polls = 0;
    interceptOperations(wadi, "getStatus", async (send) => {
      if (++polls === 3) {
        await wadi.submit("a", "new", { key: "k", conflict: "replace" });
        await new Worker(wadi).task("a", ({ payload }) => payload).drain();
      }
      return send();
    });
    expect((await wadi.waitByKey("k", FAST)).result).toBe("new");
    expect((await wadi.get(old.id))?.status).toBe("canceled");
  });
});

describe("call", () => {
  const double = defineTask<number, number>({ name: "double" });

  test("returns the result", async () => {
    const wadi = memoryWadi();
    const call = wadi.call(double, 21, FAST);
    while ((await wadi.stats()).default?.queued !== 1);
    await new Worker(wadi).task(double, ({ payload }) => payload * 2).drain();
    expect(await call).toBe(42);
  });

  test("throws what became of the task", async () => {
    const wadi = memoryWadi();
    const failed = wadi.call(double, 1, { ...FAST, maxAttempts: 1 });
    while ((await wadi.stats()).default?.queued !== 1);
    await new Worker(wadi)
      .task(double, () => {
        throw new RangeError("too big");
      })
      .drain();
    await expect(failed).rejects.toThrow(TaskFailed);
    await expect(failed).rejects.toThrow(/\(double\) failed on attempt 1 of 1: handler_error: too big$/);
    await expect(failed).rejects.toMatchObject({
      code: "TASK_FAILED",
      retryable: true,
      taskCode: "handler_error",
      taskMessage: "too big",
      taskError: { type: "RangeError", code: "handler_error", message: "too big", retryable: true },
    });
    const canceled = wadi.call(double, 1, { ...FAST, key: "k" });
    while ((await wadi.cancelByKey("k")) === null);
    await expect(canceled).rejects.toThrow(TaskCanceled);
  });

  test("carries what the handler's TaskError said", async () => {
    const wadi = memoryWadi();
    const failed = wadi.call(double, 1, FAST);
    while ((await wadi.stats()).default?.queued !== 1);
    const no = new TaskError("no such page", { code: "gone", retryable: false, details: { page: 7 } });
    await new Worker(wadi).task(double, () => Promise.reject(no)).drain();
    await expect(failed).rejects.toMatchObject({
      retryable: false,
      taskCode: "gone",
      taskMessage: "no such page",
      taskError: { details: { page: 7 } },
    });
  });
});
