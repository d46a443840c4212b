// A drain does not end while tasks are due.

import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ErrorClass, Executor } from "../../../src/core/executor.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { type OwnRows, openOwnRows } from "../../../testing/ledger.ts";
import { type Loss, lossy } from "../../../testing/lossy-executor.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { pickTargets } from "../../../testing/targets.ts";

const entries = (count: number, options = {}) =>
  Array.from({ length: count }, (_, payload) => ({ payload, ...options }));
const TARGETS = ["better-sqlite3-memory", "libsql-http", "d1", "durable-object", "pg", "neon-http"] as const;

describe.each(pickTargets(TARGETS))("a drain does not end too soon, on $name", (target) => {
  let db: OwnRows;
  beforeEach(async () => {
    db = await openOwnRows(target);
  });
  afterEach(() => db.close());

  test("after a handler has submitted a task and settled by succeedWith", async () => {
    const { wadi } = db;
    await wadi.submit("a", null);
    const worker = new Worker(wadi)
      .task("a", async (c) => {
        await c.submit("b", 1);
        return c.succeedWith([db.insert(c.id)]);
      })
      .task("b", () => 1);
    expect(await worker.drain()).toMatchObject({ claimed: 2, succeeded: 2, more: false, nextDueAtMs: null });
  });

  test("while others wait for the limit that succeedWith has made room in", async () => {
    const { wadi } = db;
    await wadi.submitMany("a", entries(20, { limits: { key: "k", concurrency: 5 } }));
    const worker = new Worker(wadi).task("a", (c) => c.succeedWith([db.insert(c.id)]));
    const summary = await worker.drain({ maxQueries: 1000 });
    expect(summary).toMatchObject({ succeeded: 20, more: false, nextDueAtMs: null });
  });

  test("and fills free slots with tasks that a handler submits and waits for", async () => {
    const { wadi } = db;
    const wait = { timeoutMs: 15_000 };
    const worker = new Worker(wadi)
      .task("parent", async (c) => (await wadi.wait((await c.submit("child", 1)).id, wait)).result)
      .task("client", async () => (await wadi.wait((await wadi.submit("child", 2)).id, wait)).result)
      .task(
        "batch",
        async ([c]) => {
          const child = await c!.submit("child", 3);
          return { [c!.id]: (await wadi.wait(child.id, wait)).result };
        },
        { batch: 4 },
      )
      .task("child", ({ payload }) => payload);
    for (const name of ["parent", "client", "batch"]) await wadi.submit(name, null);
    const summary = await worker.drain({ budgetMs: 20_000 });
    expect(summary).toMatchObject({ claimed: 6, succeeded: 6, more: false, nextDueAtMs: null });
  });
});

test("a drain with free slots finds by polling tasks that another client submits while a handler runs", async () => {
  const file = new Database(":memory:");
  const executor = betterSqlite3(file);
  const inner: Executor = { ...executor };
  const [wadi, other] = [new Wadi(executor), new Wadi(inner)];
  await wadi.submit("a", null);
  const worker = new Worker(wadi)
    .task("a", async () => {
      await pause(20); // the claim that found nothing more is answered
      return (await other.wait((await other.submit("b", 7)).id, { timeoutMs: 15_000 })).result;
    })
    .task("b", ({ payload }) => payload);
  expect(await worker.drain({ budgetMs: 20_000 })).toMatchObject({ claimed: 2, succeeded: 2, more: false });
});

test("polls while a handler runs become rare, and an empty drain makes none", async () => {
  const wadi = memoryWadi();
  await wadi.submit("a", null);
  const worker = new Worker(wadi).task("a", () => pause(1500));
  const { roundTrips } = await worker.drain();
  expect(roundTrips).toBeGreaterThanOrEqual(4); // the claim, polls after about 100, 300 and 700 ms, the settlement
  expect(roundTrips).toBeLessThanOrEqual(7);
  expect(await worker.drain()).toMatchObject({ roundTrips: 1 });
});

test("20 plain tasks take no more round trips than slots ask for", async () => {
  const wadi = memoryWadi();
  await wadi.submitMany("a", entries(20));
  const worker = new Worker(wadi).task("a", ({ payload }) => payload);
  expect((await worker.drain()).roundTrips).toBeLessThanOrEqual(3);
});

test("20 tasks that settle by succeedWith take one claim for each time that slots are free", async () => {
  const db = await openOwnRows(pickTargets(["better-sqlite3-memory"])[0]!);
  await db.wadi.submitMany("a", entries(20));
  const worker = new Worker(db.wadi).task("a", (c) => c.succeedWith([db.insert(c.id)]));
  const summary = await worker.drain();
  expect(summary).toMatchObject({ succeeded: 20, more: false, nextDueAtMs: null });
  expect(summary.roundTrips).toBeLessThan(10);
  await db.close();
});

test("a drain whose time is up asks once more what is due, also if succeedWith has settled everything", async () => {
  const db = await openOwnRows(pickTargets(["better-sqlite3-memory"])[0]!);
  const { wadi } = db;
  await wadi.submitMany("a", entries(2));
  const worker = new Worker(wadi, { concurrency: 1 }).task("a", (c) => c.succeedWith([db.insert(c.id)]));
  const summary = await worker.drain({ maxTasks: 1 });
  expect(summary).toMatchObject({ claimed: 1, succeeded: 1, more: true });
  const next = (await wadi.list({ status: "queued" }))[0]!;
  expect(summary.nextDueAtMs).toBe(next.runAtMs);
  await db.close();
});

describe("requests that fail", () => {
  /** A client that rejects the first batches of a drain before they are sent, and reports an unknown outcome. */
  function forgetful(inner: Executor) {
    const state = { lose: 0 };
    const lost = new Error("connection reset");
    const executor: Executor = {
      ...inner,
      batch: async (...args) => {
        if (state.lose-- > 0) throw lost;
        return inner.batch(...args);
      },
      classify: (error): ErrorClass => (error === lost ? "unknown" : inner.classify(error)),
    };
    return { executor, state };
  }

  test("do not end a drain whose first claim was never carried out", async () => {
    const { executor, state } = forgetful(betterSqlite3(new Database(":memory:")));
    const wadi = new Wadi(executor);
    await wadi.submitMany("a", entries(12));
    const worker = new Worker(wadi).task("a", ({ payload }) => payload);
    for (const lose of [1, 3]) {
      state.lose = lose;
      expect(await worker.drain({ maxTasks: 6 })).toMatchObject({ claimed: 6, succeeded: 6 });
    }
    expect((await wadi.stats()).default).toMatchObject({ queued: 0, running: 0, succeeded: 12 });
  });

  test("do not lose a result in an outage that is shorter than the drain", async () => {
    const inner = betterSqlite3(new Database(":memory:"));
    let loss: Loss = null;
    const wadi = new Wadi(
      lossy(inner, () => loss),
      { requestRetry: { tries: 1 } },
    );
    const { id } = await wadi.submit("a", null);
    const errors: string[] = [];
    const worker = new Worker(wadi, {
      onError: (_, { operation }) => {
        if (errors.push(operation) === 2) loss = null;
      },
    }).task("a", () => {
      loss = "before";
      return 5;
    });
    expect(await worker.drain()).toMatchObject({ claimed: 1, succeeded: 1, lost: 0, more: false });
    expect(errors).toEqual(["settleAndClaim", "settleAndClaim"]);
    expect(await wadi.get(id)).toMatchObject({ result: 5, attempt: 1 });
  });
});

describe("a retry that is due soon", () => {
  const failsOnce = (wadi: Wadi, backoff = { baseMs: 100, capMs: 100 }) =>
    new Worker(wadi, { backoff }).task("a", ({ attempt }) => {
      if (attempt === 1) throw new Error("once more");
      return attempt;
    });

  test("is run by the drain whose attempt failed", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    const summary = await failsOnce(wadi).drain();
    expect(summary).toMatchObject({ claimed: 2, retried: 1, succeeded: 1, more: false, nextDueAtMs: null });
    expect((await wadi.get(id))?.result).toBe(2);
  });

  test("is left to the next drain with lingerMs 0, or if it is due later, or has no time or room left", async () => {
    const wadi = memoryWadi();
    const left = { claimed: 1, retried: 1, more: false, nextDueAtMs: expect.any(Number) };
    await wadi.submit("a", null);
    expect(await failsOnce(wadi).drain({ lingerMs: 0 })).toMatchObject(left);
    await wadi.purge({ olderThanMs: 0 });
    for (const drain of [{ lingerMs: 50 }, { budgetMs: 90, lingerMs: 2000 }, { maxTasks: 1 }]) {
      const fresh = memoryWadi();
      await fresh.submit("a", null);
      expect(await failsOnce(fresh, { baseMs: 400, capMs: 400 }).drain(drain)).toMatchObject(left);
    }
  });

  test("is all that a drain waits for: it never waits for a task that is due in the future", async () => {
    const wadi = memoryWadi();
    await wadi.submit("a", null, { delayMs: 500 });
    expect(await failsOnce(wadi).drain()).toMatchObject({ claimed: 0, roundTrips: 1, more: false });
  });

  test("does not keep the drain from tasks that are submitted meanwhile", async () => {
    const wadi = memoryWadi();
    await wadi.submit("a", null);
    const order: string[] = [];
    const worker = failsOnce(wadi, { baseMs: 600, capMs: 600 }).task("b", () => void order.push("b"));
    const draining = worker.drain();
    await pause(100);
    await wadi.submit("b", null);
    expect(await draining).toMatchObject({ claimed: 3, retried: 1, succeeded: 2 });
    expect(order).toEqual(["b"]);
  });

  test("a wrong lingerMs is refused before anything is sent", async () => {
    const worker = failsOnce(memoryWadi());
    await expect(worker.drain({ lingerMs: -1 })).rejects.toThrow("lingerMs must be an integer");
  });
});
