// Handlers that send queries keep within those of an invocation.

import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { type Handler, QueryLimit, type TaskContext, Wadi, Worker } from "../../../src/index.ts";
import { beforeRequests } from "../../../testing/before-requests.ts";

/** Drains 20 tasks in invocations of 50 queries each, as on the free plan of D1, each with a new worker. */
async function drainAll(handler: Handler, maxAttempts: number, maxQueries = 40) {
  const inner = betterSqlite3(new Database(":memory:"));
  let sent = 0;
  let refused = 0;
  const limited = { ...inner, limits: { ...inner.limits, maxQueries } };
  const executor = beforeRequests(limited, (statements) => {
    sent += statements.length;
    if (sent <= 50) return;
    refused++;
    throw new Error("D1_ERROR: too many API requests by single worker invocation.");
  });
  const producer = new Wadi(inner);
  await producer.submitMany(
    "a",
    Array.from({ length: 20 }, (_, payload) => ({ payload, maxAttempts })),
  );
  for (let invocations = 0; invocations < 30; invocations++) {
    sent = 0;
    const worker = new Worker(new Wadi(executor), { logger: null, onError: () => {} });
    const summary = await worker
      .task("a", handler)
      .task("b", () => {})
      .drain({ lingerMs: 0 });
    expect(summary.queries).toBeLessThanOrEqual(maxQueries + 4);
    if (!summary.more) break;
  }
  expect(refused).toBe(0);
  return producer.stats();
}

const child = (c: TaskContext) => c.submit("b", c.payload);

test.each<[string, Handler]>([
  [
    "progress",
    async (c) => {
      for (let done = 0; done <= 5; done++) await c.progress(done / 5);
    },
  ],
  [
    "children",
    async (c) => {
      await Promise.all([pause(5), child(c)]);
      await child(c);
    },
  ],
  [
    "a child and succeedWith",
    async (c) => {
      await pause(5);
      await child(c);
      return c.succeedWith([{ sql: "select 1", params: [] }], null);
    },
  ],
  [
    "heartbeat and succeedWith",
    async (c) => {
      await c.heartbeat();
      return c.succeedWith([{ sql: "select 1", params: [] }], null);
    },
  ],
])("handlers with %s leave their drain enough to settle, and cost no task an attempt", async (_, handler) => {
  const { default: counts } = await drainAll(handler, 1);
  expect(counts).toMatchObject({ failed: 0, queued: 0, running: 0 });
  expect(counts!.succeeded).toBeGreaterThanOrEqual(20);
});

test("with few queries a drain still ends one such task after the other", async () => {
  const { default: counts } = await drainAll(
    async (c) => {
      await child(c);
      return c.succeedWith([{ sql: "select 1", params: [] }], null);
    },
    1,
    10,
  );
  expect(counts).toMatchObject({ failed: 0, running: 0 });
  expect(counts!.succeeded).toBeGreaterThanOrEqual(20);
});

test("a handler that alone sends more than a drain may gets an error", async () => {
  const errors: unknown[] = [];
  const stats = await drainAll(async (c) => {
    if (c.payload !== 7) return;
    try {
      for (let i = 0; i < 30; i++) await child(c);
    } catch (error) {
      errors.push(error);
      throw error;
    }
  }, 1);
  expect(stats.default).toMatchObject({ failed: 1, queued: 0, running: 0 });
  expect(errors[0]).toBeInstanceOf(QueryLimit);
});
