// Types of statements and transactions, by the client of an executor.

import type { Client, InStatement } from "@libsql/client";
import type { NeonQueryFunction } from "@neondatabase/serverless";
import type Database from "better-sqlite3";
import type { Pool } from "pg";
import { expectTypeOf, test } from "vitest";
import type { Executor } from "../../src/driver.ts";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { d1 } from "../../src/drivers/d1.ts";
import { libsql } from "../../src/drivers/libsql.ts";
import { neonHttp } from "../../src/drivers/neon.ts";
import { pg } from "../../src/drivers/pg.ts";
import {
  type CanceledTask,
  defineTask,
  type SubmitOutcome,
  type Task,
  Wadi,
  Worker,
} from "../../src/index.ts";

// Checked by the compiler; nothing here runs.

/** As `@cloudflare/workers-types` declares them. */
interface D1Result<T> {
  success: true;
  results: T[];
  meta: Record<string, unknown>;
}
declare abstract class D1PreparedStatement {
  bind(...values: unknown[]): D1PreparedStatement;
  first<T = unknown>(colName: string): Promise<T | null>;
  run<T = Record<string, unknown>>(): Promise<D1Result<T>>;
  all<T = Record<string, unknown>>(): Promise<D1Result<T>>;
  raw<T = unknown[]>(options?: { columnNames?: false }): Promise<T[]>;
}
declare abstract class D1Database {
  prepare(query: string): D1PreparedStatement;
  batch<T = unknown>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]>;
  exec(query: string): Promise<{ count: number; duration: number }>;
}

declare const DB: D1Database;
declare const sql: NeonQueryFunction<false, false>;
declare const full: NeonQueryFunction<false, true>;
declare const client: Client;
declare const db: Database.Database;
declare const pool: Pool;
const mail = defineTask<{ to: string }, { sent: boolean }>({ name: "mail" });

test("statements have the type of the client's statements", () => {
  const _ = async () => {
    const onD1 = new Wadi(d1(DB));
    const a = await onD1.statements.submit(mail, { to: "a" });
    expectTypeOf(a.statements).toEqualTypeOf<D1PreparedStatement[]>();
    expectTypeOf(a.read([])).toExtend<Task<{ to: string }, { sent: boolean }>>();
    await DB.batch([DB.prepare("select 1").bind(1), ...a.statements]);
    const many = await onD1.statements.submitMany(mail, [{ payload: { to: "a" }, key: "k" }]);
    await DB.batch([...many.statements, ...(await onD1.statements.cancelByKey("k")).statements]);

    const onNeon = new Wadi(neonHttp(sql));
    const b = await onNeon.statements.submit("untyped", null);
    await sql.transaction([sql`select ${1}`, ...b.statements]);
    const onFull = new Wadi(neonHttp(full));
    await full.transaction([
      full`select 1`,
      ...(await onFull.statements.submit(mail, { to: "b" })).statements,
    ]);

    const onLibsql = new Wadi(libsql(client));
    const c = await onLibsql.statements.submit(mail, { to: "c" });
    expectTypeOf(c.statements).toExtend<InStatement[]>();
    await client.batch(["select 1", { sql: "select ?", args: [1] }, ...c.statements], "write");

    // @ts-expect-error: statements of D1 are none of libSQL
    await client.batch(a.statements, "write");
    // @ts-expect-error: the payload is of another type
    await onD1.statements.submit(mail, { to: 1 });
    // @ts-expect-error: there is no such option
    await onD1.statements.submit(mail, { to: "a" }, { prio: 1 });
    // @ts-expect-error: entries are typed too
    await onD1.statements.submitMany(mail, [{ payload: { too: "a" } }]);
    const none = await new Wadi(pg(pool)).statements.submit("mail", null);
    expectTypeOf(none.statements).toEqualTypeOf<never[]>();
  };
});

test("a transaction is synchronous if its client is", () => {
  const _ = async () => {
    const sync = new Wadi(betterSqlite3(db)).with(db);
    expectTypeOf(sync.submit(mail, { to: "a" }).outcome).toEqualTypeOf<SubmitOutcome>();
    expectTypeOf(sync.submit(mail, { to: "a" })).toExtend<Task<{ to: string }, { sent: boolean }>>();
    expectTypeOf(sync.cancelByKey("k")).toEqualTypeOf<CanceledTask | null>();
    expectTypeOf(sync.submitMany(mail, [{ payload: { to: "a" } }]).length).toEqualTypeOf<number>();
    // @ts-expect-error: the payload is of another type
    sync.submit(mail, { to: 1 });

    const later = new Wadi(pg(pool)).with(await pool.connect());
    expectTypeOf(later.cancel("task_x")).toEqualTypeOf<Promise<CanceledTask | null>>();
    expectTypeOf((await later.submit(mail, { to: "a" })).payload).toEqualTypeOf<{ to: string }>();
    // @ts-expect-error: a promise has no outcome
    later.submit(mail, { to: "a" }).outcome;
    // @ts-expect-error: there is no such option
    later.submit(mail, { to: "a" }, { prio: 1 });
  };
});

test("a Wadi over any executor fits the type Wadi", () => {
  const _ = async (any: Executor) => {
    new Worker(new Wadi(d1(DB)));
    new Worker(new Wadi(betterSqlite3(db)));
    const wadis: Wadi[] = [
      new Wadi(libsql(client)),
      new Wadi(pg(pool)),
      new Wadi(neonHttp(sql)),
      new Wadi(any),
    ];
    // Awaiting is right for both kinds.
    expectTypeOf(await wadis[0]!.with({}).submit(mail, { to: "a" })).toExtend<Task<{ to: string }>>();
  };
});
