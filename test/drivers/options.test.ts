import { PGlite } from "@electric-sql/pglite";
import { createClient } from "@libsql/client";
import { neon } from "@neondatabase/serverless";
import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { Pool } from "pg";
import { expect, test } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { libsql } from "../../src/drivers/libsql.ts";
import { neonHttp } from "../../src/drivers/neon.ts";
import { pg } from "../../src/drivers/pg.ts";
import { pglite } from "../../src/drivers/pglite.ts";
import { fromDrizzle } from "../../src/drizzle/index.ts";

const db = new Database(":memory:");

test.each<[driver: string, make: (options: never) => unknown, options: object, message: string]>([
  [
    "betterSqlite3",
    (options) => betterSqlite3(db, options),
    { journalmode: "wal" },
    'betterSqlite3 has no option "journalmode"; it takes journalMode, synchronous, busyTimeoutMs',
  ],
  [
    "betterSqlite3",
    (options) => betterSqlite3(db, options),
    { synchronous: "off; drop table x" },
    "synchronous of betterSqlite3 must be one of keep, normal, full, extra",
  ],
  [
    "fromDrizzle",
    (options) => fromDrizzle(drizzle(db), options),
    { busyTimeoutMs: Number.NaN },
    "busyTimeoutMs of betterSqlite3 must be of type milliseconds",
  ],
  [
    "libsql",
    (options) => libsql(createClient({ url: ":memory:" }), options),
    { journalMode: "WAL" },
    "journalMode of libsql must be one of wal, keep",
  ],
  [
    "pg",
    (options) => pg(new Pool(), options),
    { schemas: "jobs" },
    'pg has no option "schemas"; it takes schema, prepare, listen',
  ],
  ["pg", (options) => pg(new Pool(), options), { listen: "no" }, "listen of pg must be of type boolean"],
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
])("%s refuses an option it does not know", (_driver, make, options, message) => {
  expect(() => make(options as never)).toThrow(new TypeError(message));
});
