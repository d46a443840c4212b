// A cancel reaches a running handler.

import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Executor } from "../../../src/core/executor.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { type TaskContext, Wadi, Worker } from "../../../src/index.ts";
import { countOperations } from "../../../testing/intercept.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { until } from "../../../testing/until.ts";

/** Returns the name of the reason for which the signal aborted. */
const untilAborted = ({ signal }: Pick<TaskContext, "signal">) =>
  new Promise<string>((resolve) => {
    const end = () => resolve(String(signal.reason?.name));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
  });

/** The same database for a client that is not known to be in this process. */
const elsewhere = (executor: Executor): Wadi => new Wadi({ ...executor, database: {} });

describe.each(
  pickTargets(["better-sqlite3-memory", "libsql-http", "d1", "durable-object", "pg", "neon-http"]),
)("a cancel reaches a handler that runs, $name", (target) => {
  let open: OpenTarget;
  beforeEach(async () => {
    open = await target.open();
  });
  afterEach(() => open.close());

  test("at once through the same Wadi, in a short drain too", async () => {
    const wadi = new Wadi(open.executor);
    const held = countOperations(wadi, "cancelPoll");
    const { id } = await wadi.submit("a", null);
    const reasons: string[] = [];
    const worker = new Worker(wadi, { cancelPollMs: 60_000 }).task("a", async (context) => {
      setTimeout(() => void wadi.cancel(id), 20);
      reasons.push(await untilAborted(context), String(context.canceled));
    });
    expect(await worker.drain({ budgetMs: 20_000 })).toMatchObject({ canceled: 1, succeeded: 0 });
    expect(reasons).toEqual(["TaskCanceled", "true"]);
    expect(held.count).toBe(0);
  });

  test("by a poll through any other", async () => {
    const wadi = new Wadi(open.executor);
    const other = elsewhere(open.executor);
    const { id } = await wadi.submit("a", null);
    const heartbeat = countOperations(wadi, "heartbeat");
    const worker = new Worker(wadi, { cancelPollMs: 100 }).task("a", async (context) => {
      await other.cancel(id);
      return untilAborted(context);
    });
    expect(await worker.drain({ budgetMs: 20_000 })).toMatchObject({ canceled: 1, lost: 0 });
    expect(heartbeat.count).toBe(0);
  });
});

test("a long-running worker is notified of it in both ways, and so is a batch", async () => {
  const wadi = memoryWadi();
  const other = elsewhere(wadi.executor);
  const worker = new Worker(wadi, { cancelPollMs: 100 })
    .task("one", untilAborted)
    .task("many", (contexts) => Promise.all(contexts.map(untilAborted)).then(() => {}), { batch: 3 });
  const one = await wadi.submitMany("one", [{ payload: 1 }, { payload: 2 }]);
  const many = await wadi.submitMany("many", [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
  const running = worker.run();
  await until(() => worker.stats().running === 5);
  for (const [i, { id }] of [...one, ...many].entries()) await (i % 2 === 0 ? wadi : other).cancel(id);
  await until(() => worker.stats().totals.canceled === 5);
  await worker.stop();
  expect(await running).toMatchObject({ canceled: 5, lost: 0, succeeded: 0 });
});

test("the handler of a task that a replace cancels is notified at once", async () => {
  const wadi = memoryWadi();
  const worker = new Worker(wadi, { cancelPollMs: 60_000 }).task("a", async (context) => {
    if (context.payload === "new") return "done";
    await wadi.submit("a", "new", { key: "k", conflict: "replace" });
    return untilAborted(context);
  });
  await wadi.submit("a", "old", { key: "k" });
  expect(await worker.drain({ budgetMs: 20_000 })).toMatchObject({ canceled: 1, succeeded: 1, more: false });
});

test("a replace in a list of submits or in a transaction cancels a running task at once too", async () => {
  const db = new Database(":memory:");
  const wadi = new Wadi(betterSqlite3(db));
  await wadi.migrate();
  const replaced = { key: "k", conflict: "replace" } as const;
  const asks: Record<string, (id: string) => unknown> = {
    submitMany: () => wadi.submitMany("a", [{ payload: "new", ...replaced }]),
    "submit in a transaction": db.transaction(() => wadi.with(db).submit("a", "new", replaced)),
    "cancel in a transaction": db.transaction((id: string) => wadi.with(db).cancel(id)),
  };
  for (const [how, ask] of Object.entries(asks)) {
    const reasons: string[] = [];
    const worker = new Worker(wadi, { cancelPollMs: 60_000 }).task("a", async (context) => {
      if (context.payload === "new") return;
      setTimeout(() => void ask(context.id), 20);
      reasons.push(await untilAborted(context));
    });
    await wadi.submit("a", "old", { key: "k" });
    expect(await worker.drain({ budgetMs: 5000 }), how).toMatchObject({ canceled: 1 });
    expect(reasons, how).toEqual(["TaskCanceled"]);
  }
});

test("a canceled task that waits for a slot is released, and there are no polls while no handler runs", async () => {
  const wadi = memoryWadi();
  const held = countOperations(wadi, "cancelPoll");
  const tasks = await wadi.submitMany("a", [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
  let end = () => {};
  const started: unknown[] = [];
  const worker = new Worker(wadi, { concurrency: 1, prefetch: 5, cancelPollMs: 100, pollMs: 60_000 }).task(
    "a",
    ({ payload }) => {
      started.push(payload);
      return new Promise<void>((resolve) => (end = resolve));
    },
  );
  const running = worker.run();
  await until(() => started.length === 1 && worker.stats().ready === 2);
  await wadi.cancel(tasks[1]!.id);
  await until(() => worker.stats().totals.canceled === 1);
  end();
  await until(() => started.length === 2);
  end();
  await until(() => worker.stats().totals.succeeded === 2);
  expect(started).toEqual([1, 3]);
  await until(() => worker.stats().running === 0);
  const before = held.count;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(held.count).toBe(before);
  await worker.stop();
  await running;
});

test("a lease that is lost is noticed by the poll, and a wrong cancelPollMs is refused", async () => {
  const wadi = memoryWadi();
  await wadi.submit("a", null, { maxAttempts: 1 });
  const worker = new Worker(wadi, { cancelPollMs: 100 }).task("a", async (context) => {
    await wadi.executor.run({ sql: "update cairnq_tasks set worker_id = 'x' returning id", params: [] });
    return untilAborted(context);
  });
  expect(await worker.drain({ budgetMs: 9000 })).toMatchObject({ lost: 1 });
  expect(() => new Worker(wadi, { cancelPollMs: 99 })).toThrow("cancelPollMs must be an integer from 100");
});

test("a worker that listens to Postgres learns at once of a cancel or a replace by another process", async () => {
  const open = await pickTargets(["pg"])[0]!.open();
  try {
    const [wadi, other] = [new Wadi(open.executor), elsewhere(await open.connect())];
    await wadi.migrate();
    const worker = new Worker(wadi, { cancelPollMs: 3_600_000 }).task("a", untilAborted);
    const { id } = await other.submit("a", 1);
    await other.submit("a", 2, { key: "k" });
    const running = worker.run();
    await until(() => worker.stats().running === 2 && worker.stats().wakeSource === "listening");
    await other.cancel(id);
    await other.submit("a", 3, { key: "k", conflict: "replace", delayMs: 60_000 });
    await until(() => worker.stats().totals.canceled === 2);
    await worker.stop();
    expect(await running).toMatchObject({ canceled: 2, lost: 0 });
    await wadi.close();
  } finally {
    await open.close();
  }
});
