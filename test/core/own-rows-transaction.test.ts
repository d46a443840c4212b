import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@libsql/client";
import Database from "better-sqlite3";
import pg from "pg";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { libsql } from "../../src/drivers/libsql.ts";
import { pg as pgExecutor } from "../../src/drivers/pg.ts";
import { AlreadyExists, defineTask, Wadi } from "../../src/index.ts";
import { startHranaServer } from "../support/hrana-server.ts";
import { createDatabase } from "../support/postgres.ts";
import { until } from "../support/until.ts";

const laterSchema = v.objectAsync({
  n: v.pipeAsync(
    v.number(),
    v.checkAsync(async (n) => n > 0),
  ),
});
const later = defineTask({ name: "later", payload: laterSchema });

describe("in a transaction of better-sqlite3", () => {
  let db: Database.Database;
  let wadi: Wadi<never, true>;

  beforeEach(async () => {
    db = new Database(":memory:");
    wadi = new Wadi(betterSqlite3(db));
    await wadi.migrate();
    db.exec("create table ledger (id text primary key)");
  });
  afterEach(() => db.close());

  const ledger = () => db.prepare("select id from ledger").pluck().all();
  const insert = (id: string) => db.prepare("insert into ledger values (?)").run(id);

  test("a submit returns its task at once, and counts with the commit", async () => {
    const task = db.transaction(() => {
      insert("a");
      return wadi.with(db).submit("mail", { to: "a" });
    })();
    expect(task).toMatchObject({ name: "mail", status: "queued", outcome: "created", payload: { to: "a" } });
    expect(await wadi.get(task.id)).toEqual(expect.objectContaining({ id: task.id }));
    expect(ledger()).toEqual(["a"]);
  });

  test("a throw undoes rows and tasks", async () => {
    const work = db.transaction(() => {
      insert("a");
      wadi.with(db).submitMany("mail", [{ payload: 1 }, { payload: 2, key: "k" }]);
      throw new Error("no");
    });
    expect(() => work()).toThrow("no");
    expect(ledger()).toEqual([]);
    expect(await wadi.list()).toEqual([]);
  });

  test("a key that is taken throws under reject, and undoes the transaction that lets it through", async () => {
    await wadi.submit("mail", 1, { key: "k" });
    const work = db.transaction(() => {
      insert("a");
      wadi.with(db).submit("mail", 2, { key: "k", conflict: "reject" });
    });
    expect(() => work()).toThrow(AlreadyExists);
    expect(ledger()).toEqual([]);
    const kept = db.transaction(() => {
      insert("b");
      return wadi.with(db).submit("mail", 2, { key: "k" });
    })();
    expect(kept).toMatchObject({ outcome: "reused", payload: 1 });
    expect(ledger()).toEqual(["b"]);
  });

  test("cancels count with the commit too", async () => {
    const { id } = await wadi.submit("mail", 1, { key: "k" });
    const undone = db.transaction(() => {
      expect(wadi.with(db).cancelByKey("k")).toMatchObject({ id, status: "canceled" });
      throw new Error("no");
    });
    expect(() => undone()).toThrow("no");
    expect(await wadi.get(id)).toMatchObject({ status: "queued" });
    expect(db.transaction(() => wadi.with(db).cancel(id))()).toMatchObject({ status: "canceled" });
    expect(db.transaction(() => wadi.with(db).cancel("task_none"))()).toBeNull();
    expect(await wadi.get(id)).toMatchObject({ status: "canceled" });
  });

  test("another handle on the same file will do", async () => {
    const directory = mkdtempSync(join(tmpdir(), "wadi-own-"));
    const [one, two] = [0, 1].map(() => new Database(join(directory, "data.db")));
    try {
      const onFile = new Wadi(betterSqlite3(one!, { synchronous: "normal" }));
      await onFile.migrate();
      const { id } = two!.transaction(() => onFile.with(two).submit("mail", 1))();
      expect(await onFile.get(id)).toMatchObject({ status: "queued" });
    } finally {
      one!.close();
      two!.close();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  test("what is wrong throws at once and says why", async () => {
    const refuse = (work: () => unknown) => () => db.transaction(work)();
    expect(() => wadi.with(db)).toThrow(
      "with(tx) found no open transaction of better-sqlite3; begin one, await that, and use it before it ends",
    );
    expect(() => wadi.with(undefined)).toThrow(/found no open transaction/);
    const ended = db.transaction(() => wadi.with(db))();
    expect(() => ended.submit("mail", 1)).toThrow(/found no open transaction/);
    expect(await wadi.list()).toEqual([]);

    expect(refuse(() => wadi.with(db).submit(later, { n: 1 }))).toThrow(
      "the payload schema of later answers later, and this transaction cannot wait; use one that validates at once",
    );
    expect(refuse(() => wadi.with(db).submitMany(later, [{ payload: { n: 0 } }]))).toThrow(/answers later/);
    expect(refuse(() => wadi.with(db).submit("mail", 1, { prio: 1 } as never))).toThrow(/no option "prio"/);
    expect(refuse(() => wadi.with(db).submit("mail", 1n))).toThrow(/a bigint/);
    expect(refuse(() => wadi.with(db).cancel(""))).toThrow(/id must be a string/);
    expect(await wadi.list()).toEqual([]);
  });

  test("missing tables are named, and the transaction can be undone", () => {
    const empty = new Database(":memory:");
    const fresh = new Wadi(betterSqlite3(empty));
    expect(() => empty.transaction(() => fresh.with(empty).submit("mail", 1))()).toThrow(
      expect.objectContaining({
        name: "DriverError",
        retryable: false,
        message: expect.stringMatching(
          /^submit failed on better-sqlite3: .* run wadi\.migrate\(\) before it$/,
        ),
      }),
    );
    empty.close();
  });

  test("a worker of the same Wadi is told of the task", async () => {
    const told: unknown[] = [];
    wadi.signals.onQueued((queues) => told.push(queues));
    db.transaction(() => wadi.with(db).submit("mail", 1, { queue: "q" }))();
    expect(told).toContainEqual(["q"]);
  });
});

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
      await until(async () => {
        const { rows } = await pool.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
        return rows.length === 1;
      });
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

  test("what is no open transaction is refused before anything is sent", async () => {
    const refusal = /^with\(tx\) found no open transaction of pg/;
    expect(() => wadi.with(client)).toThrow(refusal);
    expect(() => wadi.with(pool)).toThrow(refusal);
    expect(() => wadi.with("begin")).toThrow(refusal);
    await client.query("begin");
    const tx = wadi.with(client);
    await client.query("nonsense").catch(() => {});
    await expect(tx.submit("mail", 1)).rejects.toThrow(refusal); // it failed: nothing in it can count any more
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
