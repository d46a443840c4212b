// Migrations of empty databases, and of databases that another SDK made.

import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { migrationScript } from "../../../src/core/migrations/migration-script.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { sqlite } from "../../../src/protocol/sqlite.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { targets } from "../../../testing/targets.ts";

/** The tables of a reference SDK, in the middle of its history: no Wadi column, none of its indexes. */
const REFERENCE = {
  sqlite: { json: "text", int: "integer", real: "real" },
  postgres: { json: "jsonb", int: "bigint", real: "double precision" },
};

function referenceSchema(dialect: "sqlite" | "postgres"): string[] {
  const { json, int, real } = REFERENCE[dialect];
  return [
    `create table cairnq_tasks (id text primary key, name text not null, queue text not null default 'default',
      status text not null, payload ${json} not null, result ${json}, error ${json},
      metadata ${json} not null default '{}',
      progress ${real}, message text, attempt integer not null default 0, max_attempts integer not null default 3,
      priority integer not null default 0, worker_id text, lease_until_ms ${int}, run_at_ms ${int} not null,
      cancel_requested_at_ms ${int}, parent_id text, root_id text, correlation_id text,
      created_at_ms ${int} not null, updated_at_ms ${int} not null, completed_at_ms ${int})`,
    `create table cairnq_task_keys (key text primary key, 
      task_id text not null references cairnq_tasks(id) on delete cascade,
      created_at_ms ${int} not null, updated_at_ms ${int} not null)`,
    "create table cairnq_meta (key text primary key, value text not null)",
    `create table cairnq_migrations (name text primary key, applied_at_ms ${int} not null)`,
    "insert into cairnq_meta values ('protocol_version', '1'), ('schema_version', '3')",
    "insert into cairnq_migrations values ('0001_init.sql', 1), ('0002_purge_index.sql', 2)",
    `insert into cairnq_tasks (id, name, queue, status, payload, run_at_ms, root_id, created_at_ms, updated_at_ms)
      values ('task_old', 'a', 'default', 'queued', '{"n":1}', 5, 'task_old', 5, 5)`,
  ];
}

async function apply(target: OpenTarget, statements: readonly string[]): Promise<void> {
  for (const sql of statements) await target.executor.run({ sql, params: [] });
}

const read = async (target: OpenTarget, sql: string) => target.executor.run({ sql, params: [] });

describe.each(targets)("$name", (target) => {
  test("cold clients that start together all succeed on an empty database", async () => {
    const open = await target.open();
    try {
      const executors = await Promise.all(Array.from({ length: 4 }, () => open.connect()));
      const tasks = await Promise.all(
        executors.map((executor, i) => new Wadi(executor).submit("a", i, { key: "k" })),
      );
      expect(new Set(tasks.map((task) => task.id)).size).toBe(1);
      await Promise.all(executors.map((executor) => executor.close()));
    } finally {
      await open.close();
    }
  });

  test("a database made by Wadi leaves a reference SDK nothing to migrate", async () => {
    const open = await target.open();
    try {
      await new Wadi(open.executor).migrate();
      const names = (await read(open, "select name from cairnq_migrations order by name")).map(
        (row) => row.name,
      );
      expect(names).toEqual([
        "0001_init.sql",
        "0002_purge_index.sql",
        ...(target.dialect === "postgres" ? ["0003_notify.sql"] : []),
        "0004_lease_index.sql",
        "0005_clear_terminal_lease.sql",
        "0006_claim_name_index.sql",
        "0007_purge_status_index.sql",
        "0008_claim_due_index.sql",
        "0009_purge_queue_index.sql",
        "0010_drop_status_index.sql",
      ]);
      expect(await read(open, "select key, value from cairnq_meta order by key")).toEqual([
        { key: "protocol_version", value: "1" },
        { key: "schema_version", value: "10" },
      ]);
    } finally {
      await open.close();
    }
  });

  test("a database made by a reference SDK is adopted in place, and its ledger lists only triggers", async () => {
    const open = await target.open();
    try {
      await apply(open, referenceSchema(target.dialect));
      const wadi = new Wadi(open.executor);
      const worker = new Worker(wadi).task("a", ({ payload }) => payload);
      expect(await worker.drain()).toMatchObject({ succeeded: 1 });
      expect(await wadi.get("task_old")).toMatchObject({ status: "succeeded", result: { n: 1 } });
      await wadi.submit("a", 2, { key: "k" });
      expect(await worker.drain()).toMatchObject({ succeeded: 1 });
      expect(await wadi.purge({ olderThanMs: 0 })).toBeGreaterThanOrEqual(1);
      const ledger = await read(open, "select name from cairnq_migrations order by name");
      const notify = target.dialect === "postgres" ? ["0003_notify.sql"] : [];
      expect(ledger.map(({ name }) => name)).toEqual(["0001_init.sql", "0002_purge_index.sql", ...notify]);
      expect(await read(open, "select value from cairnq_meta where key = 'schema_version'")).toEqual([
        { value: "3" },
      ]);
    } finally {
      await open.close();
    }
  });

  test("a database of a newer protocol is refused and nothing is written", async () => {
    const open = await target.open();
    try {
      await apply(open, referenceSchema(target.dialect));
      await apply(open, ["update cairnq_meta set value = '2' where key = 'protocol_version'"]);
      const wadi = new Wadi(open.executor);
      const refusal = {
        name: "ProtocolVersionMismatch",
        code: "PROTOCOL_VERSION_MISMATCH",
        retryable: false,
      };
      await expect(wadi.submit("a", 1)).rejects.toMatchObject(refusal);
      await expect(wadi.submit("a", 1, { key: "k" })).rejects.toMatchObject(refusal);
      await expect(new Worker(wadi).task("a", () => 1).drain()).rejects.toMatchObject(refusal);
      await expect(wadi.migrate()).rejects.toMatchObject(refusal);
      expect(await read(open, "select id, status from cairnq_tasks")).toEqual([
        { id: "task_old", status: "queued" },
      ]);
      expect(await read(open, "select * from cairnq_task_keys")).toEqual([]);
    } finally {
      await open.close();
    }
  });
});

test("the migration script makes the same database as the migrations", async () => {
  const byHand = new Database(":memory:");
  byHand.exec(migrationScript(sqlite));
  const bySdk = new Database(":memory:");
  await new Wadi(betterSqlite3(bySdk)).migrate();
  const schema = (db: Database.Database) =>
    db.prepare("select sql from sqlite_master where sql is not null order by name").all();
  expect(schema(byHand)).toEqual(schema(bySdk));
  expect(byHand.prepare("select name from wadi_migrations").all()).toEqual(
    bySdk.prepare("select name from wadi_migrations").all(),
  );
});

test.each<[given: unknown[], message: string | RegExp]>([
  [
    [],
    /^migrationScript expects the SQL of a dialect, such as executor\.protocol, or sqlite of wadi\/protocol\/sqlite$/,
  ],
  [[betterSqlite3(new Database(":memory:"))], /^migrationScript expects the SQL of a dialect, /],
  [
    [sqlite, { schema: "jobs" }],
    /^migrationScript has no option "schema"; it takes mixedFleet, secondInstallation$/,
  ],
])("a migration script of wrong arguments is refused: %#", (given, message) => {
  const make = () => migrationScript(...(given as Parameters<typeof migrationScript>));
  expect(make).toThrow(
    expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringMatching(message) }),
  );
});

test.each([
  ["without fractions of a second", () => null],
  [
    "without the clock",
    () => {
      throw new Error("no such function: unixepoch");
    },
  ],
])(
  "an SQLite %s is refused with the version that Wadi needs, and nothing is written",
  async (_, unixepoch) => {
    const db = new Database(":memory:");
    db.function("unixepoch", { varargs: true }, unixepoch);
    const refusal = { code: "UNSUPPORTED", message: expect.stringContaining("SQLite 3.42") };
    await expect(new Wadi(betterSqlite3(db)).migrate()).rejects.toMatchObject(refusal);
    await expect(new Wadi(betterSqlite3(db)).submit("a", 1)).rejects.toMatchObject(refusal);
    expect(db.prepare("select * from sqlite_master").all()).toEqual([]);
  },
);
