// Calls end at their deadline although the database never answers.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Executor } from "../../../src/core/executor.ts";
import { QueueFull, Wadi } from "../../../src/index.ts";
import { memoryWadi } from "../../../testing/memory.ts";

/** A database that accepts requests and, once switched, never answers. */
async function silentWadi(maxQueueDepth?: number) {
  const { executor: inner } = memoryWadi();
  const state = { isSilent: false };
  const answer =
    <A extends unknown[], R>(send: (...args: A) => Promise<R>) =>
    (...args: A) =>
      state.isSilent ? new Promise<R>(() => {}) : send(...args);
  const executor: Executor = { ...inner, run: answer(inner.run), batch: answer(inner.batch) };
  const wadi = new Wadi(executor, { maxQueueDepth, maxQueueWaitMs: 600_000 });
  await wadi.stats();
  return { wadi, state, inner };
}

const late = { name: "DriverError", retryable: true, cause: { message: "no answer came in time" } };

describe("a database that never answers", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each<[string, (wadi: Wadi) => Promise<unknown>]>([
    ["submit", (wadi) => wadi.submit("a", 1)],
    ["submitMany", (wadi) => wadi.submitMany("a", [{ payload: 1 }, { payload: 2, key: "k" }])],
    ["get", (wadi) => wadi.get("task_x")],
    ["getStatusByKey", (wadi) => wadi.getStatusByKey("k")],
    ["failures", (wadi) => wadi.failures("task_x")],
    ["list", (wadi) => wadi.list()],
    ["stats", (wadi) => wadi.stats()],
    ["queueDepth", (wadi) => wadi.queueDepth("q")],
    ["queueHeadroom", (wadi) => wadi.queueHeadroom("q", 5)],
    ["cancel", (wadi) => wadi.cancel("task_x")],
    ["retry", (wadi) => wadi.retry("task_x")],
    ["purge", (wadi) => wadi.purge({ olderThanMs: 0 })],
    ["sweep", (wadi) => wadi.sweep([{ olderThanMs: 0 }])],
  ])("ends %s after 30 seconds", async (_name, operation) => {
    const { wadi, state } = await silentWadi();
    state.isSilent = true;
    let outcome: unknown;
    void operation(wadi).catch((error: unknown) => {
      outcome = error;
    });
    await vi.advanceTimersByTimeAsync(29_000);
    expect(outcome).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1_100);
    expect(outcome).toMatchObject(late);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("ends a migration after ten minutes, or at its own deadline", async () => {
    const { wadi, state } = await silentWadi();
    state.isSilent = true;
    const outcomes: unknown[] = [];
    void wadi.migrate({ mixedFleet: true }).catch((error) => outcomes.push(error));
    void wadi.migrate({}, { deadlineMs: Date.now() + 5_000 }).catch((error) => outcomes.push(error));
    await vi.advanceTimersByTimeAsync(6_000);
    expect(outcomes).toEqual([expect.objectContaining({ name: "DriverError", retryable: true })]);
    await vi.advanceTimersByTimeAsync(595_000);
    expect(outcomes).toHaveLength(2);
  });
});

describe("submit and submitMany take a signal and a deadline", () => {
  test("each of the submits that share a request leaves by itself", async () => {
    const { wadi, state } = await silentWadi();
    state.isSilent = true;
    const stop = new AbortController();
    const outcomes = Promise.allSettled([
      wadi.submit("a", 1, { signal: stop.signal }),
      wadi.submit("a", 2, { deadlineMs: Date.now() + 30 }),
      wadi.submitMany("a", [{ payload: 3 }], { deadlineMs: Date.now() + 30 }),
      wadi.call("a", 4, { timeoutMs: 30 }),
    ]);
    stop.abort(new Error("request closed"));
    expect((await outcomes).map((outcome) => (outcome as PromiseRejectedResult).reason)).toMatchObject([
      { message: "request closed" },
      late,
      late,
      { name: "TaskTimeout" },
    ]);
  });

  test("also while there is no room in the queue, and nothing is queued later", async () => {
    const { wadi, inner } = await silentWadi(1);
    const first = await wadi.submit("a", 0);
    const stop = new AbortController();
    const aborted = wadi.submit("a", 1, { signal: stop.signal });
    const timed = wadi.submit("a", 2, { deadlineMs: Date.now() + 30 });
    const many = wadi.submitMany("a", [{ payload: 3 }], { signal: stop.signal });
    const stays = wadi.submit("a", 4);
    const outcomes = Promise.allSettled([aborted, timed, many]);
    await new Promise((resolve) => setTimeout(resolve, 60));
    stop.abort(new Error("request closed"));
    expect((await outcomes).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
    await wadi.cancel(first.id);
    await stays;
    expect((await new Wadi(inner).list({ status: "queued" })).map(({ payload }) => payload)).toEqual([4]);
  });

  test("a call that is already aborted sends nothing, and bad options are named", async () => {
    const { wadi } = await silentWadi();
    const signal = AbortSignal.abort(new Error("gone"));
    await expect(wadi.submit("a", 1, { signal })).rejects.toThrow("gone");
    await expect(wadi.submitMany("a", [{ payload: 1 }], { signal })).rejects.toThrow("gone");
    await expect(wadi.submit("a", 1, { deadlineMs: 5000 })).rejects.toThrow(
      "deadlineMs must be epoch milliseconds, such as Date.now() + 5000, got 5000, " +
        "which looks like seconds or a duration",
    );
    // "The outcome is not known" would make its caller send it again, and ask whether it is queued.
    await expect(wadi.submit("a", 1, { deadlineMs: Date.now() - 1 })).rejects.toMatchObject({
      kind: "unavailable",
      retryable: true,
      message: expect.stringContaining("its deadline came before it was sent, and nothing is queued"),
    });
    await expect(wadi.submit("a", 1, { signal: {} as never })).rejects.toThrow(
      "signal must be an AbortSignal",
    );
    await expect(wadi.submitMany("a", [], { signals: 1 } as never)).rejects.toThrow(
      'submitMany has no option "signals"; it takes signal, deadlineMs',
    );
    await expect(wadi.submit("a", 1, { signals: 1 } as never)).rejects.toThrow(
      'submit has no option "signals"',
    );
    expect(await wadi.list()).toEqual([]);
  });
});

describe("a full queue", () => {
  test("says how long the submit waited", async () => {
    const wadi = memoryWadi({ maxQueueDepth: 1, maxQueueWaitMs: 50 });
    await wadi.submit("a", 1);
    const error = await wadi.submit("a", 2).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(QueueFull);
    expect((error as QueueFull).waitedMs).toBeGreaterThanOrEqual(50);
    expect((error as Error).message).toMatch(/after a wait of \d+ ms/);
  });

  test("answers a submit with the task that its key has, immediately", async () => {
    const wadi = memoryWadi({ maxQueueDepth: 3, maxQueueWaitMs: 600_000 });
    const live = await wadi.submit("a", 1, { key: "live" });
    const done = await wadi.submit("a", 2, { key: "done" });
    const { executor } = wadi;
    await executor.run({
      sql: "update cairnq_tasks set status = 'succeeded' where id = ?",
      params: [done.id],
    });
    const burst = await wadi.submit("a", 3, { key: "burst", debounce: { delayMs: 1000 } });
    await wadi.submit("a", 4);
    const answers = await Promise.all([
      wadi.submit("a", 0, { key: "live" }),
      wadi.submit("a", 0, { key: "done", conflict: "reuse-succeeded" }),
      wadi.submit("a", 0, { key: "done", throttle: { perMs: 60_000 } }),
      wadi.submit("a", 5, { key: "burst", debounce: { delayMs: 1000 } }),
    ]);
    expect(answers.map(({ id, outcome }) => [id, outcome])).toEqual([
      [live.id, "reused"],
      [done.id, "reused"],
      [done.id, "reused"],
      [burst.id, "debounced"],
    ]);
    await expect(wadi.submit("a", 0, { key: "live", conflict: "reject" })).rejects.toThrow(
      "already has task",
    );
    const many = await wadi.submitMany("a", [
      { payload: 0, key: "live" },
      { payload: 0, key: "done", conflict: "reuse-succeeded" },
    ]);
    expect(many.map(({ id }) => id)).toEqual([live.id, done.id]);
    const full = new Wadi(executor, { maxQueueDepth: 3 });
    await expect(full.submit("a", 0, { key: "done" })).rejects.toThrow(QueueFull);
    await expect(full.submit("a", 0, { key: "live", conflict: "replace" })).rejects.toThrow(QueueFull);
    await expect(
      full.submitMany("a", [
        { payload: 0, key: "live" },
        { payload: 0, key: "new" },
      ]),
    ).rejects.toThrow(QueueFull);
  });
});
