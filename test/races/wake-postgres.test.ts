// The locks of wake-ups on Postgres: a claim waits for the submits that rely on it, and no submit waits.

import postgres from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bind } from "../../src/core/operations/statement.ts";
import { takeKicks } from "../../src/core/operations/wake.ts";
import { pg } from "../../src/drivers/pg.ts";
import { type Kick, Wadi, Worker } from "../../src/index.ts";
import { internalsOf } from "../../src/producer/internals.ts";
import { createDatabase } from "../../testing/postgres.ts";
import { untilOneWaitsForALock } from "../../testing/postgres-activity.ts";
import { until } from "../../testing/until.ts";

let pool: postgres.Pool;
let wadi: Wadi;
let kicks: Kick[];

beforeEach(async () => {
  pool = new postgres.Pool({ connectionString: await createDatabase(), max: 8 });
  kicks = [];
  wadi = new Wadi(pg(pool), { wake: (kick) => void kicks.push(kick) });
  await wadi.migrate();
});
afterEach(async () => {
  await wadi.close();
  await pool.end();
});

/** A submit of another client, up to its commit. Returns the queues that it will kick. */
async function submitUncommitted(client: postgres.PoolClient): Promise<unknown[]> {
  await client.query("begin");
  await new Wadi(wadi.executor).with(client).submit("a", "uncommitted");
  const request = { queue: "default", names: ["a"], delayMs: 0 };
  const [statement] = takeKicks(internalsOf(wadi).session.target, [request], false).statements;
  const { rows } = await client.query(statement!.sql, [...statement!.params]);
  return rows;
}

test("a claim that takes back a mark waits for a submit that has relied on it", async () => {
  await wadi.submit("a", 1);
  const client = await pool.connect();
  expect(await submitUncommitted(client)).toEqual([]); // a kick is pending
  const drained = new Worker(wadi).task("a", () => null).drain();
  await untilOneWaitsForALock(pool);
  await client.query("commit");
  client.release();
  expect(await drained).toMatchObject({ succeeded: 2, more: false });
  expect(kicks).toHaveLength(1);
});

test("while a claim has the lock, a submit kicks and does not wait", async () => {
  await wadi.submit("a", 1);
  const client = await pool.connect();
  await client.query("begin");
  const lock = bind(wadi.executor, "lock_wakes", { queues_json: '["default"]' });
  await client.query(lock.sql, [...lock.params]);
  await wadi.submit("a", 2);
  await wadi.submitMany("a", [{ payload: 3 }]);
  await until(() => kicks.length === 3);
  await client.query("commit");
  client.release();
  await wadi.submit("a", 4);
  expect(kicks).toHaveLength(3);
});

test("of submits that would kick together one does, and the others do not wait for it", async () => {
  const client = await pool.connect();
  expect(await submitUncommitted(client)).toHaveLength(1);
  await wadi.submit("a", 2);
  expect(kicks).toEqual([]);
  await client.query("commit");
  client.release();
});

test("a submit that is rolled back leaves no mark", async () => {
  const client = await pool.connect();
  expect(await submitUncommitted(client)).toHaveLength(1);
  await client.query("rollback");
  client.release();
  await wadi.submit("a", 2);
  expect(kicks).toHaveLength(1);
});
