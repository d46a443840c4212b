// What `fromDrizzle` refuses.

import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { drizzle as betterSqlite3 } from "drizzle-orm/better-sqlite3";
import { drizzle as mysqlProxy } from "drizzle-orm/mysql-proxy";
import { drizzle as nodePostgres } from "drizzle-orm/node-postgres";
import { drizzle as sqliteProxy } from "drizzle-orm/sqlite-proxy";
import { Pool } from "pg";
import { describe, expect, it } from "vitest";
import { fromDrizzle } from "../../src/drizzle/index.ts";
import * as postgres from "../../src/drizzle/postgres.ts";
import * as sqlite from "../../src/drizzle/sqlite.ts";
import { InvalidArgument } from "../../src/index.ts";

const messageOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidArgument);
    return (error as Error).message;
  }
  throw new Error("expected a refusal");
};

describe("fromDrizzle refuses", () => {
  const db = betterSqlite3(new Database(":memory:"));
  const all = "better-sqlite3, libSQL, D1, Durable Objects, node-postgres, Neon over HTTP or PGlite";
  const cases: [what: string, db: unknown, got: string][] = [
    ["a client that is not in Drizzle", new Database(":memory:"), "an object without $client"],
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a text", "file:data.db", "string"],
    ["a database without a client", betterSqlite3.mock(), "a BetterSQLite3Database of another client"],
    ["a proxy", sqliteProxy(async () => ({ rows: [] })), "a SqliteRemoteDatabase of another client"],
    [
      "a database of MySQL",
      mysqlProxy(async () => ({ rows: [] })),
      "a MySqlRemoteDatabase of another client",
    ],
    ["a client it does not know", { $client: { query() {} } }, "a database of another client"],
    ["a function it does not know", { $client: () => [] }, "a database of another client"],
    // A pool of MySQL has these methods too.
    [
      "a pool that counts nothing",
      { $client: { connect() {}, query() {}, on() {} } },
      "a database of another",
    ],
  ];

  it.each(cases)("%s", (_what, value, got) => {
    const message = messageOf(() => fromDrizzle(value as never));
    expect(message).toContain(`fromDrizzle takes a Drizzle database of ${all}, got ${got}`);
  });

  it("a transaction, and says what to do with one", () => {
    db.transaction((tx) => {
      expect(messageOf(() => fromDrizzle(tx as never))).toContain("use wadi.with(tx) for the transaction");
    });
  });

  it("in an entry point of one dialect those of the other", () => {
    expect(messageOf(() => postgres.fromDrizzle(db as never))).toBe(
      "fromDrizzle takes a Drizzle database of node-postgres, Neon over HTTP or PGlite, " +
        "got a BetterSQLite3Database of another client",
    );
    expect(messageOf(() => sqlite.fromDrizzle(nodePostgres(new Pool()) as never))).toContain(
      "of better-sqlite3, libSQL, D1 or Durable Objects, got a NodePgDatabase",
    );
  });

  it("to the compiler what has no client it knows, and options of another driver", () => {
    const _ = () => {
      // @ts-expect-error: a proxy has no client
      fromDrizzle(sqliteProxy(async () => ({ rows: [] })));
      // @ts-expect-error: a client is no database
      fromDrizzle(new Pool());
      // @ts-expect-error: an option of Postgres
      fromDrizzle(db, { prepare: false });
      // @ts-expect-error: a database of the other dialect
      postgres.fromDrizzle(db);
    };
  });
});

it("wadi/drizzle by itself loads nothing of Drizzle", () => {
  const files = ["index", "database", "batch-items", "pick-sqlite-driver", "pick-postgres-driver"];
  const sources = files.map((file) => readFileSync(`src/drizzle/${file}.ts`, "utf8")).join("\n");
  expect(sources.match(/^import (?!type ).*drizzle-orm.*$/gm)).toBeNull();
});
