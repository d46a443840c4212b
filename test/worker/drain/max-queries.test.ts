// Drains keep within the queries of an invocation.

import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { Executor } from "../../../src/core/executor.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { d1 } from "../../../src/drivers/d1.ts";
import { type DrainSummary, Wadi, Worker, type WorkerOptions } from "../../../src/index.ts";
import { beforeRequests } from "../../../testing/before-requests.ts";
import { openD1 } from "../../../testing/d1.ts";

const entries = (count: number, options = {}) =>
  Array.from({ length: count }, (_, payload) => ({ payload, ...options }));
/** An executor that counts statements, and refuses all after the first `limit` of an invocation. */
function counted(inner: Executor, limit = Number.POSITIVE_INFINITY) {
  const state = { sent: 0, refused: 0 };
  const executor = beforeRequests(inner, (statements) => {
    state.sent += statements.length;
    if (state.sent <= limit) return;
    state.refused++;
    throw new Error("D1_ERROR: too many API requests by single worker invocation.");
  });
  return { executor, state };
}

async function sqlite(limit?: number) {
  const { executor, state } = counted(betterSqlite3(new Database(":memory:")), limit);
  const wadi = new Wadi(executor);
  await wadi.migrate();
  state.sent = 0;
  return { wadi, state };
}

/** Drains as a cron does, each time in a new invocation, until nothing is left. */
async function drainAll(drain: () => Promise<DrainSummary>, onInvocation: () => void) {
  const summaries: DrainSummary[] = [];
  do {
    onInvocation();
    summaries.push(await drain());
  } while (summaries.at(-1)!.more && summaries.length < 50);
  return summaries;
}

describe("on D1", () => {
  test("100 tasks of 20 ms take at most 40 of the free plan's 50 queries, with default options", async () => {
    const database = await openD1();
    const wadi = new Wadi(d1(database.binding));
    await wadi.submitMany("a", entries(100));
    const before = database.meter().statements;
    const summary = await new Worker(wadi).task("a", () => pause(20)).drain();
    expect(summary).toMatchObject({ claimed: 100, succeeded: 100, more: false, nextDueAtMs: null });
    expect(summary.queries).toBe(database.meter().statements - before);
    expect(summary.queries).toBeLessThanOrEqual(40);
    database.close();
  });

  test("a parent that waits for its child does not wait for the settlements of others too", async () => {
    const database = await openD1();
    const wadi = new Wadi(d1(database.binding));
    await wadi.submit("a", 2);
    const worker = new Worker(wadi, { leaseMs: 900_000 }).task("a", async (c) => {
      if (c.payload === 0) return "end";
      const child = await c.submit("a", (c.payload as number) - 1);
      return (await wadi.wait(child.id)).status;
    });
    // Spread evenly over the time, each settlement would wait for minutes.
    const signal = AbortSignal.timeout(20_000);
    const summary = await worker.drain({ budgetMs: 800_000, signal });
    expect(signal.aborted).toBe(false);
    expect(summary).toMatchObject({ claimed: 3, succeeded: 3, retried: 0 });
    expect(summary.queries).toBeLessThanOrEqual(40);
    database.close();
  });

  test("finished work is settled before the platform's limit, and no task is charged for it", async () => {
    const database = await openD1();
    const { executor, state } = counted(d1(database.binding), 50);
    const wadi = new Wadi(executor);
    await new Wadi(d1(database.binding)).submitMany("a", entries(80, { maxAttempts: 2 }));
    const worker = new Worker(wadi, { concurrency: 4 }).task("a", async (c) => {
      await pause(5 * (1 + ((c.payload as number) % 7)));
      if ((c.payload as number) % 9 === 0) await wadi.get(c.id); // of the ten that are left to handlers
    });
    const summaries = await drainAll(
      () => worker.drain({ budgetMs: 10_000 }),
      () => {
        state.sent = 0;
      },
    );
    expect(state.refused).toBe(0);
    expect(summaries.every(({ queries }) => queries <= 40)).toBe(true);
    expect(summaries.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(80);
    const tasks = await new Wadi(d1(database.binding)).list({ limit: 100 });
    expect(new Set(tasks.map(({ status, attempt }) => `${status} ${attempt}`))).toEqual(
      new Set(["succeeded 1"]),
    );
    database.close();
  });
});

test("every statement counts: those of contexts, of the guard, of migrations and of a sweep too", async () => {
  const { executor, state } = counted(betterSqlite3(new Database(":memory:")));
  const wadi = new Wadi(executor);
  const retention = [{ olderThanMs: 60_000 }];
  const worker = new Worker(wadi, { retention, backoff: { baseMs: 5, capMs: 5 } })
    .task("a", async (c) => {
      await c.progress(0.5);
      await c.heartbeat();
      await Promise.all([c.submit("b", 1), c.submit("b", 2)]);
      await c.submit("c", 3, { key: "k" });
      return c.succeedWith([{ sql: "select 1" }, { sql: "select 2" }]);
    })
    .task("b", ({ attempt }) => {
      if (attempt === 1) throw new Error("once more");
    })
    .task("c", () => 1);
  const first = await worker.drain();
  expect(first.queries).toBe(state.sent);
  state.sent = 0;
  await wadi.submit("a", null);
  state.sent = 0;
  const second = await worker.drain();
  expect(second).toMatchObject({ succeeded: 4, retried: 2, queries: state.sent });
});

test("a drain that may send few queries says honestly that there is more, and loses nothing", async () => {
  const { wadi, state } = await sqlite();
  await wadi.submitMany("a", entries(200));
  const worker = new Worker(wadi).task("a", ({ payload }) => payload);
  const summaries = await drainAll(
    () => worker.drain({ maxQueries: 20 }),
    () => {
      state.sent = 0;
    },
  );
  expect(summaries.length).toBeGreaterThan(1);
  expect(summaries.length).toBeLessThan(10);
  for (const { queries, more, nextDueAtMs } of summaries) {
    expect(queries).toBeLessThanOrEqual(20);
    if (more) expect(nextDueAtMs).toBeLessThanOrEqual(Date.now() + 1000);
  }
  expect(summaries.at(-1)).toMatchObject({ more: false, nextDueAtMs: null });
  expect((await wadi.stats()).default).toMatchObject({ succeeded: 200, running: 0 });
});

test.each<[string, WorkerOptions, object]>([
  ["prefetch", { prefetch: 30 }, {}],
  ["limits", {}, { limits: { key: "k", concurrency: 3 } }],
  ["a lease that is shorter than the drain", { leaseMs: 2000 }, {}],
])("slow handlers end within few queries, with %s", async (_, options, submit) => {
  const { wadi, state } = await sqlite();
  await wadi.submitMany("a", entries(60, submit));
  const worker = new Worker(wadi, options).task("a", ({ payload }) =>
    pause(3 + ((payload as number) % 11) * 4),
  );
  const summaries = await drainAll(
    () => worker.drain({ maxQueries: 30, budgetMs: 8000 }),
    () => {
      state.sent = 0;
    },
  );
  for (const { queries, lost } of summaries) {
    expect(queries).toBeLessThanOrEqual(30);
    expect(lost).toBe(0);
  }
  const tasks = await wadi.list({ limit: 100 });
  expect(new Set(tasks.map(({ status, attempt }) => `${status} ${attempt}`))).toEqual(
    new Set(["succeeded 1"]),
  );
});

test("with batches, resources and children it ends within its queries too", async () => {
  const { wadi, state } = await sqlite();
  await wadi.submitMany("many", entries(50));
  await wadi.submitMany("render", entries(6));
  await wadi.submitMany("parent", entries(6));
  const worker = new Worker(wadi, { resources: { gpu: 2 } })
    .task("many", async () => pause(5), { batch: 20 })
    .task("render", () => pause(10), { resource: "gpu" })
    .task("parent", async (c) => void (await c.submit("child", c.payload)))
    .task("child", ({ payload }) => payload);
  const summaries = await drainAll(
    () => worker.drain({ maxQueries: 40, budgetMs: 10_000 }),
    () => {
      state.sent = 0;
    },
  );
  for (const { queries } of summaries) expect(queries).toBeLessThanOrEqual(40);
  expect((await wadi.stats()).default).toMatchObject({ succeeded: 68, running: 0, failed: 0 });
});

test("tasks that have ended are settled while a slow handler runs, in spite of the polls for cancels", async () => {
  const { wadi } = await sqlite();
  const quick = await wadi.submit("quick", null);
  await wadi.submit("slow", null);
  const worker = new Worker(wadi, { leaseMs: 4000, cancelPollMs: 600 })
    .task("quick", () => pause(10))
    .task("slow", async () => (await wadi.wait(quick.id, { timeoutMs: 4000 })).status);
  expect(await worker.drain({ maxQueries: 100, budgetMs: 25_000 })).toMatchObject({
    succeeded: 2,
    retried: 0,
    more: false,
  });
});

test("a higher limit is taken, and one too small or not whole is refused before anything is sent", async () => {
  const { wadi, state } = await sqlite();
  await wadi.submitMany("a", entries(300));
  const worker = new Worker(wadi).task("a", ({ payload }) => payload);
  expect(await worker.drain({ maxQueries: 1000 })).toMatchObject({ succeeded: 300, more: false });
  state.sent = 0;
  for (const maxQueries of [9, 10.5, Number.POSITIVE_INFINITY, Number.NaN]) {
    await expect(worker.drain({ maxQueries })).rejects.toThrow("maxQueries must be an integer >= 10");
  }
  expect(state.sent).toBe(0);
});
