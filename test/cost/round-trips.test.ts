// How many round trips a task costs in a large drain.

import Database from "better-sqlite3";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Executor } from "../../src/driver.ts";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { pg } from "../../src/drivers/pg.ts";
import { Wadi, Worker } from "../../src/index.ts";
import { createDatabase } from "../../testing/postgres.ts";
import { startTcpProxy, type TcpProxy } from "../../testing/tcp-proxy.ts";

const TASKS = 4000;

/** Tasks a drain runs at a concurrency of 16, and what it sends for them by the count of `turns`. */
async function drain(executor: Executor, turns: () => number, options: { prefetch?: number } = {}) {
  const wadi = new Wadi(executor);
  const payloads = Array.from({ length: TASKS }, (_, i) => ({ payload: i }));
  await wadi.submitMany("a", payloads);
  const worker = new Worker(wadi, { concurrency: 16, ...options });
  worker.task("a", ({ payload }) => payload);
  const before = turns();
  const { succeeded, roundTrips } = await worker.drain({ budgetMs: 20_000 });
  const sent = turns() - before;
  const unequal = (await wadi.list({ limit: 1000 })).filter((task) => task.result !== task.payload);
  expect({ succeeded, unequal }).toEqual({ succeeded: TASKS, unequal: [] });
  return { perTask: sent / TASKS, roundTrips, sent };
}

describe("better-sqlite3", () => {
  const count = (options?: { prefetch?: number }) => {
    const executor = betterSqlite3(new Database(":memory:"));
    let calls = 0;
    const counted: Executor = {
      ...executor,
      run(statement) {
        calls++;
        return executor.run(statement);
      },
      batch(statements) {
        calls++;
        return executor.batch(statements);
      },
    };
    return drain(counted, () => calls, options);
  };

  test("a task costs at most 0.07 round trips, and the summary has them all", async () => {
    const { perTask, roundTrips, sent } = await count();
    expect(perTask).toBeLessThanOrEqual(0.07);
    expect(roundTrips).toBe(sent);
  });

  test("with prefetch it costs at most 0.005", async () => {
    const { perTask, roundTrips, sent } = await count({ prefetch: 500 });
    expect(perTask).toBeLessThanOrEqual(0.005);
    expect(roundTrips).toBe(sent);
  });
});

describe("node-pg, counted on the wire", () => {
  let proxy: TcpProxy;
  beforeAll(async () => {
    proxy = await startTcpProxy({ port: Number(new URL(await createDatabase()).port) });
  });
  afterAll(() => proxy.stop());

  const count = async (options?: { prefetch?: number }) => {
    const url = new URL(await createDatabase());
    url.port = String(proxy.port);
    const pool = new Pool({ connectionString: url.href, max: 2 });
    try {
      return await drain(pg(pool, { listen: false }), () => proxy.turns, options);
    } finally {
      await pool.end();
    }
  };

  test("a task costs at most 0.07 round trips", async () => {
    expect((await count()).perTask).toBeLessThanOrEqual(0.07);
  });

  test("with prefetch it costs at most 0.005", async () => {
    expect((await count({ prefetch: 500 })).perTask).toBeLessThanOrEqual(0.005);
  });
});
