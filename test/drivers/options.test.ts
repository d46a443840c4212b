// Wrong options and wrong clients of a driver are refused with what it takes.

import { PGlite } from "@electric-sql/pglite";
import { createClient } from "@libsql/client";
import { neon } from "@neondatabase/serverless";
import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { Pool } from "pg";
import { expect, test } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { d1 } from "../../src/drivers/d1.ts";
import { durableObject } from "../../src/drivers/durable-object.ts";
import { libsql } from "../../src/drivers/libsql.ts";
import { neonHttp } from "../../src/drivers/neon.ts";
import { pg } from "../../src/drivers/pg.ts";
import { pglite } from "../../src/drivers/pglite.ts";
import { fromDrizzle } from "../../src/drizzle/index.ts";
import { InvalidArgument } from "../../src/index.ts";

const db = new Database(":memory:");

test.each<[driver: string, make: (options: never) => unknown, options: object, message: string]>([
  [
    "betterSqlite3",
    (options) => betterSqlite3(db, options),
    { journalmode: "wal" },
    'betterSqlite3 has no option "journalmode"; it takes journalMode, synchronous, busyTimeoutMs, listen',
  ],
  [
    "betterSqlite3",
    (options) => betterSqlite3(db, options),
    { synchronous: "off; drop table x" },
    'synchronous of betterSqlite3 must be one of keep, normal, full, extra, got "off; drop table x"',
  ],
  [
    "fromDrizzle",
    (options) => fromDrizzle(drizzle(db), options),
    { busyTimeoutMs: Number.NaN },
    "busyTimeoutMs of betterSqlite3 must be an integer >= 0 (milliseconds), got NaN",
  ],
  [
    "libsql",
    (options) => libsql(createClient({ url: ":memory:" }), options),
    { journalMode: "WAL" },
    'journalMode of libsql must be one of wal, keep, got "WAL"',
  ],
  [
    "pg",
    (options) => pg(new Pool(), options),
    { schemas: "jobs" },
    'pg has no option "schemas"; it takes schema, prepare, listen',
  ],
  [
    "pg",
    (options) => pg(new Pool(), options),
    { listen: "no" },
    "listen of pg must be true or false, got string",
  ],
  [
    "neonHttp",
    (options) => neonHttp(neon("postgres://a:b@c.example/d"), options),
    { fullResults: true },
    'neonHttp has no option "fullResults"; it takes schema',
  ],
  [
    "pglite",
    (options) => pglite(Object.create(PGlite.prototype), options),
    { toString: 1 },
    'pglite has no option "toString"; it takes schema',
  ],
])("%s refuses an unknown option", (_driver, make, options, message) => {
  expect(() => make(options as never)).toThrow(new InvalidArgument(message));
});

test.each<[driver: string, make: (client: never) => unknown, client: unknown, message: string]>([
  [
    "betterSqlite3",
    betterSqlite3,
    "app.db",
    "betterSqlite3 expects a Database of better-sqlite3, got string",
  ],
  ["libsql", libsql, "file:app.db", "libsql expects a client of @libsql/client, got string"],
  ["d1", d1, undefined, "d1 expects a D1 binding, such as env.DB, got undefined"],
  ["d1", d1, { DB: {} }, "d1 expects a D1 binding, such as env.DB, got an object without prepare()"],
  [
    "durableObject",
    durableObject,
    { storage: {} },
    "durableObject expects the storage of a Durable Object, ctx.storage, got an object without transactionSync()",
  ],
  ["pg", pg, "postgres://a:secret@c.example/d", "pg expects a Pool or a Client of node-pg, got string"],
  ["pg", pg, db, "pg expects a Pool or a Client of node-pg, got an object without on()"],
  [
    "neonHttp",
    neonHttp,
    "postgres://a:secret@c.example/d",
    "neonHttp expects the function returned by neon(url) (@neondatabase/serverless >= 1), got string",
  ],
  ["pglite", pglite, null, "pglite expects a PGlite, got null"],
  [
    "pg",
    pg,
    drizzle(db),
    "pg expects a Pool or a Client of node-pg, got a Drizzle database; pass it to fromDrizzle of wadi/drizzle",
  ],
])("%s refuses a client of another kind", (_driver, make, client, message) => {
  expect(() => make(client as never)).toThrow(new InvalidArgument(message));
});
