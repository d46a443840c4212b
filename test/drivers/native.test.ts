// Statements of Wadi in a batch of the client.

import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { d1 } from "../../src/drivers/d1.ts";
import { pg as pgExecutor } from "../../src/drivers/pg.ts";
import { Wadi } from "../../src/index.ts";
import { internalsOf } from "../../src/producer/internals.ts";
import { commitSuccess } from "../../src/worker/handler/succeed-with.ts";
import { openD1 } from "../../testing/d1.ts";
import { claimed } from "../../testing/ledger.ts";
import { createDatabase } from "../../testing/postgres.ts";
import { type NativeClient, nativeClients } from "../../testing/transactional-clients.ts";

describe.each(Object.keys(nativeClients))("statements of the client's own type, %s", (name) => {
  let client: NativeClient;
  const native = () => client.executor.native!;
  const isSqlite = () => client.executor.dialect === "sqlite";
  const run = (sql: string) => client.executor.run({ sql, params: [] });
  const select = () => ({ sql: `select ${isSqlite() ? "?" : "$1::text"} as it`, params: ["x"] });

  beforeEach(async () => {
    client = await nativeClients[name]!();
    await run("create table ledger (id text primary key)");
  });
  afterEach(() => client.close());

  test("are made without sending anything, and are recognized", async () => {
    const before = client.requests();
    const [statement] = native().prepare([select()]);
    expect(client.requests()).toBe(before);
    expect(native().is(statement)).toBe(true);
    expect(native().is(client.insert("a"))).toBe(true);
    for (const other of [null, undefined, 1, "select 1", {}, select(), [statement], () => 1]) {
      expect(native().is(other)).toBe(false);
    }
  });

  test("run in one batch, in order and together or not at all", async () => {
    const results = await native().batch([client.insert("a"), ...native().prepare([select()])]);
    expect(results).toEqual([[], [{ it: "x" }]]);
    await expect(native().batch([client.insert("b"), client.insert("a")])).rejects.toThrow();
    expect(await run("select id from ledger")).toEqual([{ id: "a" }]);
  });

  test("have their rows in the results of the client's batch", async () => {
    const [, result] = await client.batch([client.insert("a"), ...native().prepare([select()])]);
    expect(native().rows(result)).toEqual([{ it: "x" }]);
  });

  test("are committed together with a settlement, also mixed with others", async () => {
    const wadi = new Wadi(client.executor);
    const task = await claimed(wadi);
    const other = { sql: `insert into ledger (id) values (${isSqlite() ? "?" : "$1"})`, params: ["b"] };
    const built = { toSQL: () => ({ ...other, params: ["c"] }) };
    const before = client.requests();
    await commitSuccess(internalsOf(wadi).session, task, [client.insert("a"), other, built], '"done"');
    if (before !== null) expect(client.requests()! - before).toBe(1);
    expect(await run("select id from ledger order by id")).toEqual([{ id: "a" }, { id: "b" }, { id: "c" }]);
    expect(await wadi.get(task.id)).toMatchObject({ status: "succeeded", result: "done" });

    const second = await claimed(wadi);
    await wadi.cancel(second.id);
    const canceled = commitSuccess(internalsOf(wadi).session, second, [client.insert("d")], "1");
    await expect(canceled).rejects.toMatchObject({ name: "TaskCanceled" });
    const third = await claimed(wadi);
    const refused = commitSuccess(internalsOf(wadi).session, third, [client.insert("a")], "1");
    await expect(refused).rejects.toMatchObject({ name: "DriverError", retryable: false });
    await run("update cairnq_tasks set lease_until_ms = 1 where lease_until_ms is not null");
    const lost = commitSuccess(internalsOf(wadi).session, third, [client.insert("d")], "1");
    await expect(lost).rejects.toMatchObject({ name: "LostLease" });
    expect(await run("select id from ledger")).toHaveLength(3);
  });

  test("of another client are not recognized", async () => {
    const wadi = new Wadi(client.executor);
    const task = await claimed(wadi);
    const foreign = name === "d1" ? { sql: "select 1", args: [] } : { bind: () => {}, all: () => {} };
    const refused = commitSuccess(internalsOf(wadi).session, task, [foreign], "1");
    await expect(refused).rejects.toMatchObject({ name: "InvalidArgument" });
  });
});

test("D1 has one executor for a binding, which all requests of an isolate share", async () => {
  const { binding, meter, close } = await openD1();
  expect(d1(binding)).toBe(d1(binding));
  await new Wadi(d1(binding)).statements.submit("mail", null);
  const before = meter().roundTrips;
  await new Wadi(d1(binding)).statements.submit("mail", null);
  expect(meter().roundTrips).toBe(before);
  close();
});

test("Postgres gets parameters that its own types can read", async () => {
  const pool = new pg.Pool({ connectionString: await createDatabase(), max: 2 });
  try {
    const wadi = new Wadi(pgExecutor(pool, { listen: false }));
    const task = await claimed(wadi);
    await pool.query("create table kinds (b boolean, at timestamptz, big bigint, j jsonb, f float8, n text)");
    const at = new Date(1_790_000_000_123);
    const params = [true, at, 2n ** 60n, { a: [1] }, Number.POSITIVE_INFINITY, undefined];
    const sql = "insert into kinds values ($1, $2, $3, $4, $5, $6)";
    await commitSuccess(internalsOf(wadi).session, task, [{ sql, params }], "1");
    const { rows } = await pool.query("select * from kinds");
    expect(rows).toEqual([
      { b: true, at, big: String(2n ** 60n), j: { a: [1] }, f: Number.POSITIVE_INFINITY, n: null },
    ]);
    await wadi.close();
  } finally {
    await pool.end();
  }
});
