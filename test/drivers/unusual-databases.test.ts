// Databases with unusual encodings and settings.

import { randomUUID } from "node:crypto";
import Database from "better-sqlite3";
import { Client, Pool } from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { pg } from "../../src/drivers/pg.ts";
import { Wadi, Worker } from "../../src/index.ts";
import { postgresUrl } from "../../testing/postgres.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A pool on a new database that was created `how`, with `settings` for each of its connections. */
async function database(how: string, settings: Record<string, string> = {}): Promise<Pool> {
  const name = `wadi_${randomUUID().replaceAll("-", "")}`;
  const admin = new Client(postgresUrl());
  await admin.connect();
  await admin.query(`create database ${name} template template0 ${how}`);
  for (const [setting, value] of Object.entries(settings)) {
    await admin.query(`alter database ${name} set ${setting} = ${value}`);
  }
  await admin.end();
  const url = new URL(postgresUrl());
  url.pathname = name;
  const pool = new Pool({ connectionString: url.href });
  open.push(() => pool.end());
  return pool;
}

const FOREIGN = "naïve → 漢字 👩‍👧 \u0007 \ud800 \\ ' \" $1";

/** A task that fails once and then succeeds, one with a key, and what is left of them. */
async function works(wadi: Wadi, text: string): Promise<void> {
  await wadi.migrate();
  const { id } = await wadi.submit(
    "a",
    { text },
    { key: `k\\'"${text}`, maxAttempts: 3, metadata: { note: text } },
  );
  const again = await wadi.submit("a", { text }, { key: `k\\'"${text}` });
  expect(again).toMatchObject({ id, outcome: "reused" });
  const limited = await wadi.submit(
    "a",
    { text },
    { limits: { key: `l${text}`, concurrency: 1 }, delayMs: 3_600_000 },
  );
  const worker = new Worker(wadi, { backoff: { baseMs: 0 } }).task("a", async (context) => {
    await context.progress(0.5, text);
    if (context.attempt === 1) throw new Error(`failed: ${FOREIGN}`);
    return { text };
  });
  await worker.drain({ budgetMs: 20_000 });
  const task = await wadi.get(id);
  expect(task).toMatchObject({
    status: "succeeded",
    attempt: 2,
    result: { text },
    payload: { text },
    metadata: { note: text },
  });
  const [failure] = await wadi.failures(id);
  expect(failure!.error).toMatchObject({ code: "handler_error", retryable: true });
  expect(failure!.error.message).toMatch(/^failed: na.ve /);
  expect((await wadi.list({ name: "a" })).map((row) => row.id).sort()).toEqual([id, limited.id].sort());
  expect(await wadi.cancel(limited.id)).toMatchObject({ status: "canceled" });
  expect((await wadi.stats()).default).toMatchObject({ succeeded: 1, canceled: 1 });
  expect(await wadi.purge({ olderThanMs: 0 })).toBeTruthy();
}

describe("Postgres", () => {
  it.each(["LATIN1", "SQL_ASCII", "EUC_JP", "WIN1251"])(
    "in the encoding %s stores a failure whose text it cannot hold, and tries again",
    async (encoding) => {
      const wadi = new Wadi(pg(await database(`encoding '${encoding}' locale 'C'`), { listen: false }));
      await works(wadi, "plain");
    },
    60_000,
  );

  it("in an encoding of bytes keeps every text", async () => {
    await works(
      new Wadi(pg(await database("encoding 'SQL_ASCII' locale 'C'"), { listen: false })),
      "naïve → 漢字",
    );
  });

  it.each<Record<string, string>>([
    { standard_conforming_strings: "off", backslash_quote: "on", escape_string_warning: "off" },
    { default_transaction_isolation: "'serializable'" },
    { default_transaction_isolation: "'repeatable read'", default_transaction_deferrable: "on" },
    { timezone: "'Asia/Kolkata'", datestyle: "'German, DMY'", intervalstyle: "'sql_standard'" },
    { transform_null_equals: "on", array_nulls: "off", bytea_output: "'escape'", extra_float_digits: "-15" },
    {
      plan_cache_mode: "force_generic_plan",
      enable_indexscan: "off",
      enable_hashjoin: "off",
      jit: "on",
      jit_above_cost: "0",
    },
    { plan_cache_mode: "force_custom_plan", enable_seqscan: "off", synchronous_commit: "off" },
    { client_encoding: "'LATIN1'", lc_messages: "'C'", row_security: "off" },
    { search_path: "'$user', public, pg_temp" },
    { statement_timeout: "'20s'", lock_timeout: "'10s'", idle_in_transaction_session_timeout: "'10s'" },
  ])(
    "works under the settings %j",
    async (settings) => {
      await works(new Wadi(pg(await database("", settings), { listen: false })), "naïve → 漢字");
    },
    60_000,
  );

  it("says what is missing where the search path names no schema", async () => {
    const wadi = new Wadi(pg(await database("", { search_path: "''" }), { listen: false }));
    await expect(wadi.submit("a", 1)).rejects.toThrow(/schema/);
    const schema = new Wadi(pg(await database("", { search_path: "''" }), { listen: false, schema: "jobs" }));
    await works(schema, "naïve → 漢字");
  }, 60_000);

  it("that is read-only by default is distinguished from one that is away", async () => {
    const pool = await database("", { default_transaction_read_only: "on" });
    const error = await new Wadi(pg(pool, { listen: false })).submit("a", 1).catch((reason) => reason);
    expect(error).toMatchObject({ kind: "unavailable", retryable: true });
    expect(error.message).toMatch(/takes no writes/);
  });
});

describe("SQLite", () => {
  it.each(["UTF-16le", "UTF-16be"])("in the encoding %s", async (encoding) => {
    const db = new Database(":memory:");
    db.pragma(`encoding = '${encoding}'`);
    await works(new Wadi(betterSqlite3(db)), "naïve → 漢字");
  });

  it.each([
    "case_sensitive_like = on",
    "reverse_unordered_selects = on",
    "foreign_keys = off",
    "recursive_triggers = on",
    "trusted_schema = off",
    "cell_size_check = on",
    "secure_delete = on",
    "count_changes = on",
    "short_column_names = off",
    "automatic_index = off",
    "locking_mode = exclusive",
  ])("under pragma %s", async (pragma) => {
    const db = new Database(":memory:");
    db.pragma(pragma);
    await works(new Wadi(betterSqlite3(db)), "naïve → 漢字");
  });
});
