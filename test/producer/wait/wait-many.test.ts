// Waits for many tasks.

import { describe, expect, test, vi } from "vitest";
import { newTaskId } from "../../../src/core/ulid.ts";
import { type Task, TaskTimeout, Wadi, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { sentOperations } from "../../../testing/sent-operations.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { UNTIL_NOTIFIED } from "../../../testing/until-notified.ts";

const FAST = { pollMs: 1, maxPollMs: 1 };
const drain = (wadi: Wadi) => new Worker(wadi).task("a", ({ payload }) => (payload as number) * 2).drain();
const results = (tasks: readonly Task[]) => tasks.map(({ status, result }) => [status, result]);

test.each(pickTargets(["better-sqlite3-file", "libsql-http", "d1", "pg", "neon-http"]))(
  "waits for all in the order asked, by id and by key, on $name",
  async (target) => {
    const { executor, close } = await target.open();
    try {
      const wadi = new Wadi(executor);
      const entries = [1, 2, 3].map((payload) => ({ payload, key: `k"\u0001é${payload}` }));
      const tasks = await wadi.submitMany("a", entries);
      const keys = entries.map(({ key }) => key);
      const waits = [
        wadi.waitMany([...tasks].reverse(), FAST),
        wadi.waitMany([tasks[0]!.id, tasks[2]!, tasks[0]!], FAST),
        wadi.waitManyByKey([...keys, keys[0]!], FAST),
      ];
      await drain(wadi);
      const [reversed, some, byKey] = await Promise.all(waits);
      expect(results(reversed!)).toEqual([6, 4, 2].map((result) => ["succeeded", result]));
      expect(results(some!)).toEqual([2, 6, 2].map((result) => ["succeeded", result]));
      expect(results(byKey!)).toEqual([2, 4, 6, 2].map((result) => ["succeeded", result]));
    } finally {
      await close();
    }
  },
);

test("an empty list is answered without a request", async () => {
  const wadi = memoryWadi();
  const names = sentOperations(wadi);
  expect([await wadi.waitMany([]), await wadi.waitManyByKey([])]).toEqual([[], []]);
  expect(names).toEqual([]);
});

test("one request polls all, and rows are read a hundred at a time", async () => {
  const wadi = memoryWadi();
  const entries = Array.from({ length: 250 }, (_, payload) => ({ payload }));
  const tasks = await wadi.submitMany("a", entries);
  while ((await drain(wadi)).more);
  const names = sentOperations(wadi);
  const done = await wadi.waitMany(tasks);
  expect(done.map(({ payload }) => payload)).toEqual(entries.map(({ payload }) => payload));
  expect(names).toEqual(["getStatus", "get", "get", "get"]);
});

test("names that fill more than one parameter are looked at in parts", async () => {
  const { executor } = memoryWadi();
  const wadi = new Wadi({ ...executor, limits: { ...executor.limits, maxParamBytes: 2_100 } });
  const keys = Array.from({ length: 5 }, (_, n) => String(n).repeat(1024));
  for (const key of keys) await wadi.submit("a", 1, { key });
  await drain(wadi);
  const names = sentOperations(wadi);
  expect((await wadi.waitManyByKey(keys)).length).toBe(5);
  expect(names).toEqual(["getStatus", "getStatus", "getStatus", "get"]);
});

test("a wait for ten thousand is one request, also where a parameter is as small as on D1", async () => {
  const { executor } = memoryWadi();
  const wadi = new Wadi({ ...executor, limits: { ...executor.limits, maxParamBytes: 1_900_000 } });
  const ids = Array.from({ length: 10_000 }, () => newTaskId());
  const names = sentOperations(wadi);
  await expect(wadi.waitMany(ids, { timeoutMs: 0 })).rejects.toThrow("10000 of 10000 tasks are not done");
  expect(names).toEqual(["getStatus"]);
});

describe("a signal", () => {
  test("is answered by reading the row, and many that come together by one request", async () => {
    const wadi = memoryWadi();
    const tasks = await wadi.submitMany(
      "a",
      Array.from({ length: 50 }, (_, payload) => ({ payload })),
    );
    const names = sentOperations(wadi);
    const wait = wadi.waitMany(tasks, UNTIL_NOTIFIED);
    await vi.waitUntil(() => names.length === 1);
    internalsOf(wadi).notifier.done([tasks[2]!.id]); // too early
    await vi.waitUntil(() => names.length === 2);
    expect(names).toEqual(["getStatus", "get"]);
    await wadi.executor.run({
      sql: "update cairnq_tasks set status = 'canceled'",
      params: [],
    });
    internalsOf(wadi).notifier.done(tasks.map(({ id }) => id));
    expect((await wait).every(({ status }) => status === "canceled")).toBe(true);
    expect(names).toEqual(["getStatus", "get", "get"]);
  });

  test("moves the wait of a key to its new task", async () => {
    const wadi = memoryWadi();
    const first = await wadi.submit("a", 1, { key: "k" });
    const other = await wadi.submit("a", 1, { key: "other" });
    const names = sentOperations(wadi);
    const wait = wadi.waitManyByKey(["k", "other"], UNTIL_NOTIFIED);
    await vi.waitUntil(() => names.length === 1);
    const second = await wadi.submit("a", 2, { key: "k", conflict: "replace" });
    internalsOf(wadi).notifier.done([first.id]);
    await vi.waitUntil(() => names.filter((name) => name === "getStatus").length === 2);
    await wadi.cancel(second.id);
    await wadi.cancel(other.id);
    expect((await wait).map(({ id }) => id)).toEqual([second.id, other.id]);
  });

  test("leaves no waiter behind, whichever way the wait ends", async () => {
    const wadi = memoryWadi();
    const tasks = await wadi.submitMany("a", [{ payload: 1 }, { payload: 2 }]);
    const { subscribe } = internalsOf(wadi).notifier;
    let open = 0;
    internalsOf(wadi).notifier.subscribe = (...subscription) => {
      const release = subscribe.apply(internalsOf(wadi).notifier, subscription);
      open++;
      let isOpen = true;
      return () => {
        if (isOpen) open--;
        isOpen = false;
        release();
      };
    };
    await expect(wadi.waitMany(tasks, { ...FAST, timeoutMs: 5 })).rejects.toThrow(TaskTimeout);
    expect(open).toBe(0);
    const stop = new AbortController();
    const wait = wadi.waitMany(tasks, { ...UNTIL_NOTIFIED, signal: stop.signal });
    await vi.waitUntil(() => open === 2);
    stop.abort(new Error("request closed"));
    await expect(wait).rejects.toThrow("request closed");
    expect(open).toBe(0);
    const fired = wadi.waitMany(tasks, UNTIL_NOTIFIED);
    for (const { id } of tasks) await wadi.cancel(id);
    await fired;
    expect(open).toBe(0);
  });
});

test("a timeout says how many are missing and which come first", async () => {
  const wadi = memoryWadi();
  const tasks = await wadi.submitMany(
    "a",
    [1, 2, 3, 4, 5].map((payload) => ({ payload, key: `k${payload}` })),
  );
  await wadi.cancel(tasks[1]!.id);
  const ids = [0, 2, 3, 4].map((n) => tasks[n]!.id);
  const error = await wadi.waitMany(tasks, { timeoutMs: 0 }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TaskTimeout);
  expect(error).toMatchObject({
    retryable: true,
    missing: ids,
    message:
      `waited 0 ms: 4 of 5 tasks are not done (${ids.slice(0, 3).join(", ")}, ...); ` +
      "wait longer, or read one of them to see which state it is stuck in",
  });
  await expect(wadi.waitManyByKey(["k1", "k2", "none"], { timeoutMs: 0 })).rejects.toThrow(
    "waited 0 ms: 2 of 3 tasks are not done (k1, none); " +
      "wait longer, or read one of them to see which state it is stuck in",
  );
});

test("bad input is refused before anything is sent", async () => {
  const wadi = memoryWadi();
  const names = sentOperations(wadi);
  await expect(wadi.waitMany("x" as never)).rejects.toThrow(
    "waitMany takes an array of tasks or ids, got string",
  );
  await expect(wadi.waitManyByKey({} as never)).rejects.toThrow("waitManyByKey takes an array of keys");
  await expect(wadi.waitMany(["a", 5 as never])).rejects.toThrow(
    "id must be a non-empty string, got undefined",
  );
  await expect(wadi.waitManyByKey([""])).rejects.toThrow('key must be a non-empty string, got ""');
  await expect(wadi.waitMany([], { timeoutMs: -1 })).rejects.toThrow(
    "timeoutMs must be an integer >= 0, got -1",
  );
  expect(names).toEqual([]);
});
