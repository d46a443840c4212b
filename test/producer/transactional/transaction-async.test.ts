// Submits in a transaction of an asynchronous client.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@libsql/client";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { libsql } from "../../../src/drivers/libsql.ts";
import { pg as pgExecutor } from "../../../src/drivers/pg.ts";
import { AlreadyExists, Wadi } from "../../../src/index.ts";
import { startHranaServer } from "../../../testing/hrana-server.ts";
import { createDatabase } from "../../../testing/postgres.ts";
import { untilOneWaitsForALock } from "../../../testing/postgres-activity.ts";
import { until } from "../../../testing/until.ts";
import { later } from "./later-task.ts";

describe("in a transaction of node-pg", () => {
  let pool: pg.Pool;
  let wadi: Wadi<never, false>;
  let client: pg.PoolClient;

  beforeEach(async () => {
    pool = new pg.Pool({ connectionString: await createDatabase(), max: 3 });
    wadi = new Wadi(pgExecutor(pool, { listen: false }));
    await wadi.migrate();
    await pool.query("create table ledger (id text primary key)");
    client = await pool.connect();
  });
  afterEach(async () => {
    client.release();
    await wadi.close();
    await pool.end();
  });

  const ledger = async () => (await pool.query("select id from ledger")).rows.map(({ id }) => id);

  test.each(["commit", "rollback"])("submits and cancels count after %s or not at all", async (end) => {
    const other = await wadi.submit("mail", 0, { key: "other" });
    await client.query("begin");
    await client.query("insert into ledger values ('a')");
    const tx = wadi.with(client);
    const one = await tx.submit("mail", 1, { key: "k" });
    const many = await tx.submitMany("mail", [{ payload: 2 }, { payload: 3, key: "k" }]);
    expect(await tx.cancelByKey("other")).toMatchObject({ id: other.id, status: "canceled" });
    expect(many.map(({ outcome }) => outcome)).toEqual(["created", "reused"]);
    expect(await wadi.get(one.id)).toBeNull(); // on another connection
    await client.query(end);
    const committed = end === "commit";
    expect(await ledger()).toEqual(committed ? ["a"] : []);
    expect(await wadi.list()).toHaveLength(committed ? 3 : 1);
    expect(await wadi.get(other.id)).toMatchObject({ status: committed ? "canceled" : "queued" });
  });

  test("AlreadyExists does no harm to the transaction", async () => {
    await wadi.submit("mail", 0, { key: "k" });
    await client.query("begin");
    const refused = wadi.with(client).submit("mail", 1, { key: "k", conflict: "reject" });
    await expect(refused).rejects.toBeInstanceOf(AlreadyExists);
    await client.query("insert into ledger values ('a')");
    await client.query("commit");
    expect(await ledger()).toEqual(["a"]);
  });

  test("two transactions that submit one key make one task", async () => {
    const second = await pool.connect();
    try {
      await Promise.all([client.query("begin"), second.query("begin")]);
      const first = await wadi.with(client).submit("mail", 1, { key: "k" });
      let waited = true;
      const other = wadi.with(second).submit("mail", 2, { key: "k" });
      other.then(() => {
        waited = false;
      });
      await untilOneWaitsForALock(pool);
      expect(waited).toBe(true);
      await client.query("commit");
      expect(await other).toMatchObject({ id: first.id, outcome: "reused" });
      await second.query("commit");
    } finally {
      second.release();
    }
  });

  test("an asynchronous schema is waited for", async () => {
    await client.query("begin");
    await expect(wadi.with(client).submit(later, { n: 0 })).rejects.toMatchObject({
      name: "InvalidArgument",
    });
    expect(await wadi.with(client).submit(later, { n: 1 })).toMatchObject({ payload: { n: 1 } });
    await client.query("rollback");
  });

  test("a client without an open transaction is refused before anything is sent", async () => {
    const refusal = /^with\(tx\) found no open transaction of pg/;
    expect(() => wadi.with(client)).toThrow(refusal);
    expect(() => wadi.with(pool)).toThrow(refusal);
    expect(() => wadi.with("begin")).toThrow(refusal);
    expect(() => wadi.with(new pg.Client())).toThrow(refusal); // never connected: it would answer nothing
    await client.query("begin");
    const tx = wadi.with(client);
    await client.query("nonsense").catch(() => {});
    // The status changes a moment after the error.
    await until(async () => (client as unknown as pg.Client).getTransactionStatus() === "E");
    // Nothing in it can count any more.
    await expect(tx.submit("mail", 1)).rejects.toThrow(
      /^a statement of this transaction has failed; roll it back/,
    );
    await client.query("rollback");
    await expect(tx.submit("mail", 1)).rejects.toThrow(refusal);
    expect(await wadi.list()).toEqual([]);
  });

  test("refusals and missing tables are DriverErrors, and nothing is tried again", async () => {
    await client.query("begin");
    await client.query("alter table cairnq_tasks rename to gone");
    await expect(wadi.with(client).submit("mail", 1)).rejects.toMatchObject({
      name: "DriverError",
      retryable: false,
      message: expect.stringMatching(/^submit failed on pg: .* run wadi\.migrate\(\) before it$/),
    });
    await client.query("rollback");
    await client.query("begin");
    await client.query("set local lock_timeout = 1");
    const lock = await pool.connect();
    try {
      await lock.query("begin; lock table cairnq_tasks");
      await expect(wadi.with(client).submit("mail", 1)).rejects.toMatchObject({
        name: "DriverError",
        retryable: true,
        message: "submit failed on pg: roll your transaction back; the cause says why",
        cause: expect.objectContaining({ code: "55P03" }),
      });
    } finally {
      await lock.query("rollback");
      lock.release();
    }
    await client.query("rollback");
  });
});

describe.each(["file", "http"])("in a transaction of libSQL, %s", (kind) => {
  let client: Client;
  let close: () => Promise<void>;

  beforeEach(async () => {
    if (kind === "http") {
      const server = await startHranaServer();
      client = createClient({ url: server.url });
      close = server.stop;
    } else {
      const directory = mkdtempSync(join(tmpdir(), "wadi-own-"));
      client = createClient({ url: `file:${join(directory, "data.db")}` });
      close = async () => rmSync(directory, { recursive: true, force: true });
    }
  });
  afterEach(async () => {
    client.close();
    await close();
  });

  test.each(["commit", "rollback"] as const)("submits count after %s or not at all", async (end) => {
    const wadi = new Wadi(libsql(client));
    await wadi.migrate();
    await client.execute("create table ledger (id text)");
    const tx = await client.transaction("write");
    await tx.execute("insert into ledger values ('a')");
    const one = await wadi.with(tx).submit("mail", 1, { key: "k" });
    expect(await wadi.with(tx).cancel(one.id)).toMatchObject({ status: "canceled" });
    const two = await wadi.with(tx).submit("mail", 2, { key: "k" });
    await tx[end]();
    const { rows } = await client.execute("select id from ledger");
    expect(rows).toHaveLength(end === "commit" ? 1 : 0);
    expect((await wadi.list()).map(({ id }) => id).sort()).toEqual(
      end === "commit" ? [one.id, two.id].sort() : [],
    );
    expect(() => wadi.with(tx)).toThrow(/found no open transaction of libsql/);
    expect(() => wadi.with(client)).toThrow(/found no open transaction of libsql/);
  });
});
