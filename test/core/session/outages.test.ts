// Waits, drains and calls end in time although the database does not answer.

import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { Executor } from "../../../src/driver.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { memoryWadi } from "../../../testing/memory.ts";

/** A database that accepts requests and, once switched, never answers. */
async function silentWadi() {
  const inner = betterSqlite3(new Database(":memory:"));
  const state = { silent: false };
  const answer =
    <A extends unknown[], R>(send: (...args: A) => Promise<R>) =>
    (...args: A) =>
      state.silent ? new Promise<R>(() => {}) : send(...args);
  const executor: Executor = { ...inner, run: answer(inner.run), batch: answer(inner.batch) };
  const wadi = new Wadi(executor);
  await wadi.stats();
  return { wadi, state };
}

const late = { name: "DriverError", retryable: true, cause: { message: "no answer came in time" } };

test("a wait ends soon after its time although the database does not answer", async () => {
  const { wadi, state } = await silentWadi();
  state.silent = true;
  await expect(wadi.wait("task_x", { timeoutMs: 10 })).rejects.toMatchObject({
    name: "TaskTimeout",
    retryable: true,
    cause: late,
  });
});

test("a wait ends with its signal although the database does not answer", async () => {
  const { wadi, state } = await silentWadi();
  state.silent = true;
  const stop = new AbortController();
  const wait = wadi.wait("task_x", { signal: stop.signal });
  stop.abort(new Error("gone"));
  await expect(wait).rejects.toThrow("gone");
});

test("a drain ends at its deadline although the database does not answer", async () => {
  const { wadi, state } = await silentWadi();
  const worker = new Worker(wadi).task("a", () => 1);
  state.silent = true;
  await expect(worker.drain({ budgetMs: 50 })).rejects.toMatchObject(late);
});

test("a call whose signal is aborted submits nothing", async () => {
  const wadi = memoryWadi();
  await expect(wadi.call("a", 1, { signal: AbortSignal.abort(new Error("gone")) })).rejects.toThrow("gone");
  expect(await wadi.list()).toEqual([]);
});

test("an answer that cannot be read is the caller's to see, and is not asked for again", async () => {
  const { wadi } = await silentWadi();
  let reads = 0;
  const statements = [{ sql: "select 1", params: [] }];
  const decode = () => {
    reads++;
    throw new RangeError("unreadable");
  };
  await expect(internalsOf(wadi).session.execute({ name: "odd", statements, decode })).rejects.toThrow(
    RangeError,
  );
  expect(reads).toBe(1);
});

test("a result that the database refuses fails only its task and delays no other", async () => {
  const wadi = memoryWadi();
  const tasks = await wadi.submitMany(
    "a",
    [1, 2, 3].map((payload) => ({ payload })),
  );
  // Passes the check of the values and is too deep for SQLite's own JSON parser.
  const deep = { toJSON: () => JSON.parse("[".repeat(1500) + "]".repeat(1500)) };
  const worker = new Worker(wadi).task("a", ({ payload }) => (payload === 2 ? deep : payload));
  expect(await worker.drain()).toMatchObject({ claimed: 3, succeeded: 2, failed: 1, lost: 0 });
  const [first, second, third] = await Promise.all(tasks.map(({ id }) => wadi.get(id)));
  expect([first?.result, third?.result]).toEqual([1, 3]);
  expect(second?.error).toMatchObject({ code: "unserializable_result", retryable: false });
});
