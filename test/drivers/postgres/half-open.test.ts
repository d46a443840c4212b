// Connections whose other end is gone without a word.

import type { Pool } from "pg";
import { afterEach, describe, expect, it, vi } from "vitest";
import { pg } from "../../../src/drivers/pg.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { failure, failureClass, pgFixture, sql } from "../../../testing/pg-fixture.ts";
import { until } from "../../../testing/until.ts";

const db = pgFixture("select 1");
const alive = sql("select 1 as one");
const now = performance.now.bind(performance);

afterEach(() => {
  db.proxy.isSilent = false;
  vi.restoreAllMocks();
});

/** A pool of four whose connections are all open and none in use. */
async function fullPool(): Promise<Pool> {
  const pool = db.pool({ max: 4 });
  const clients = await Promise.all(Array.from({ length: 4 }, () => pool.connect()));
  for (const client of clients) client.release();
  return pool;
}

/** Advances the clock that measures how long a connection was silent. */
function later(ms: number): void {
  vi.spyOn(performance, "now").mockImplementation(() => now() + ms);
}

describe("half-open connections", () => {
  it("are all dropped once one did not answer for long, and none is waited for twice", async () => {
    const pool = await fullPool();
    const executor = pg(pool);
    db.proxy.silence();
    const patience = new AbortController();
    const unanswered = failureClass(executor, executor.batch([alive], { signal: patience.signal }));
    await until(() => pool.idleCount === 3);
    later(2000);
    patience.abort();
    expect(await unanswered).toBe("unknown");
    expect(await executor.run(alive)).toEqual([{ one: "1" }]);
    expect([pool.totalCount, pool.idleCount, pool.waitingCount]).toEqual([1, 1, 0]);
  });

  it("leave no caller in the pool's queue", async () => {
    const pool = await fullPool();
    const executor = pg(pool);
    db.proxy.silence();
    const patience = new AbortController();
    const work = Array.from({ length: 9 }, () => failure(executor.run(alive, { signal: patience.signal })));
    await until(() => pool.waitingCount === 5);
    later(2000);
    patience.abort();
    await Promise.all(work);
    await until(() => pool.waitingCount === 0 && pool.idleCount === pool.totalCount);
    expect(await executor.run(alive)).toEqual([{ one: "1" }]);
  });

  it("are dropped also while they are opened", async () => {
    const pool = db.pool({ max: 2 });
    const executor = pg(pool, { listen: false });
    db.proxy.isSilent = true;
    const patience = new AbortController();
    const work = Array.from({ length: 4 }, () => failure(executor.run(alive, { signal: patience.signal })));
    await until(() => pool.waitingCount === 2);
    later(10_000);
    db.proxy.isSilent = false;
    patience.abort(new Error("waited for long enough"));
    for (const { message } of await Promise.all(work)) expect(message).toBe("waited for long enough");
    await until(() => pool.waitingCount === 0 && pool.idleCount === pool.totalCount);
    expect(await executor.run(alive)).toEqual([{ one: "1" }]);
  });

  it("are not suspected for a caller in a hurry, which costs only its connection", async () => {
    const pool = await fullPool();
    const executor = pg(pool);
    const hurry = new AbortController();
    const left = failureClass(executor, executor.run(sql("select pg_sleep(60)"), { signal: hurry.signal }));
    await until(() => pool.idleCount === 3);
    hurry.abort();
    expect(await left).toBe("unknown");
    await until(() => pool.totalCount === 3);
    await db.killWhileRunning("select pg_sleep(60)");
    expect(await executor.run(alive)).toEqual([{ one: "1" }]);
    expect(pool.totalCount).toBe(3);
  });

  it("leave the application's waits for its pool unchanged", async () => {
    const pool = db.pool({ max: 1 });
    const before = { ...pool.options };
    await pg(pool).run(alive);
    expect({ ...pool.options }).toEqual(before);
  });
});

describe("a worker whose connections all fall silent", () => {
  it("continues with new ones after a single missing answer", async () => {
    const pool = await fullPool();
    const errors: string[] = [];
    const worker = new Worker(new Wadi(pg(pool, { listen: false })), {
      leaseMs: 3000,
      pollMs: 5,
      maxPollMs: 10,
      onError: (_, { operation }) => errors.push(operation),
    }).task("a", ({ payload }) => payload);
    const running = worker.run();
    await until(() => worker.stats().totals.roundTrips > 3);
    await until(() => pool.totalCount === 4);
    db.proxy.silence();
    const other = new Wadi(pg(db.pool({ connectionString: db.directUrl })));
    const { id } = await other.submit("a", 1);
    expect((await other.wait(id, { timeoutMs: 20_000 })).status).toBe("succeeded");
    expect(errors.filter((operation) => operation !== "listen").length).toBeLessThanOrEqual(2);
    await until(() => pool.waitingCount === 0);
    await worker.stop();
    await running;
    await other.close();
  });
});
