import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { neon } from "@neondatabase/serverless";
import Database from "better-sqlite3";
import { drizzle as betterSqlite3 } from "drizzle-orm/better-sqlite3";
import { drizzle as d1 } from "drizzle-orm/d1";
import { drizzle as libsql } from "drizzle-orm/libsql";
import { drizzle as neonHttp } from "drizzle-orm/neon-http";
import { drizzle as nodePostgres } from "drizzle-orm/node-postgres";
import { drizzle as pglite } from "drizzle-orm/pglite";
import { Client, Pool } from "pg";
import type { Executor } from "../../src/core/executor.ts";
import type { D1Like } from "../../src/drivers/d1.ts";
import { fromDrizzle } from "../../src/drizzle/index.ts";
import * as postgres from "../../src/drizzle/postgres.ts";
import * as sqlite from "../../src/drizzle/sqlite.ts";
import { openD1 } from "../../testing/d1.ts";
import { startHranaServer } from "../../testing/hrana-server.ts";
import { startNeonEndpoint } from "../../testing/neon-endpoint.ts";
import { createDatabase } from "../../testing/postgres.ts";
import { openPglite } from "../../testing/targets/pglite.ts";

type Rows = Record<string, unknown>[];

/** A query of either dialect; `run` is for synchronous clients. */
export interface AnyQuery extends PromiseLike<Rows> {
  run(): unknown;
  where(condition: unknown): AnyQuery;
  innerJoin(table: unknown, on: unknown): AnyQuery;
  toSQL(): { sql: string; params: unknown[] };
}

/** What the databases have in common, for tests that run on all of them. */
export interface AnyDrizzle {
  select(fields?: unknown): { from(table: unknown): AnyQuery };
  insert(table: unknown): { values(row: unknown): AnyQuery };
  transaction(work: (tx: AnyDrizzle) => unknown): unknown;
  batch(items: readonly unknown[]): Promise<unknown[]>;
}

export interface OpenDrizzle {
  readonly db: AnyDrizzle;
  readonly executor: Executor;
  close(): unknown;
  /** The batch of the client itself, past Drizzle and Wadi. */
  sendBatch?(statements: readonly unknown[]): Promise<unknown[]>;
}

export interface DrizzleCase {
  readonly name: string;
  readonly dialect: "sqlite" | "postgres";
  readonly driver: string;
  /** How its transactions run; null where it has none. */
  readonly transactions: "sync" | "async" | null;
  readonly batches: boolean;
  open(): Promise<OpenDrizzle>;
}

function opened(
  db: object,
  executor: Executor,
  close: () => unknown,
  sendBatch?: (statements: never) => Promise<unknown>,
): OpenDrizzle {
  const batch = sendBatch && { sendBatch: sendBatch as OpenDrizzle["sendBatch"] & {} };
  return { db: db as unknown as AnyDrizzle, executor, close, ...batch };
}

/** Every Drizzle database that `fromDrizzle` takes and that runs in Node, on its real engine. */
export const cases: readonly DrizzleCase[] = [
  {
    name: "better-sqlite3",
    dialect: "sqlite",
    driver: "better-sqlite3",
    transactions: "sync",
    batches: false,
    async open() {
      const db = betterSqlite3({ client: new Database(":memory:") });
      return opened(db, fromDrizzle(db, { synchronous: "normal" }), () => db.$client.close());
    },
  },
  {
    name: "libSQL on a file",
    dialect: "sqlite",
    driver: "libsql",
    transactions: "async",
    batches: true,
    async open() {
      const directory = mkdtempSync(join(tmpdir(), "wadi-drizzle-"));
      const db = libsql(createClient({ url: `file:${join(directory, "data.db")}` }));
      return opened(
        db,
        fromDrizzle(db, { journalMode: "wal" }),
        () => {
          db.$client.close();
          rmSync(directory, { recursive: true, force: true });
        },
        (statements) => db.$client.batch(statements, "write"),
      );
    },
  },
  {
    name: "libSQL over HTTP",
    dialect: "sqlite",
    driver: "libsql",
    transactions: "async",
    batches: true,
    async open() {
      const server = await startHranaServer();
      const db = libsql(createClient({ url: server.url }));
      return opened(
        db,
        sqlite.fromDrizzle(db),
        () => server.stop(),
        (statements) => db.$client.batch(statements, "write"),
      );
    },
  },
  {
    name: "D1",
    dialect: "sqlite",
    driver: "d1",
    transactions: null,
    batches: true,
    async open() {
      const { raw, close } = await openD1();
      const db = d1(raw as D1Like);
      return opened(db, fromDrizzle(db), close, (statements) => (raw as D1Like).batch(statements));
    },
  },
  {
    name: "node-postgres with a pool",
    dialect: "postgres",
    driver: "pg",
    transactions: "async",
    batches: false,
    async open() {
      const db = nodePostgres(new Pool({ connectionString: await createDatabase(), max: 3 }));
      return opened(db, fromDrizzle(db, { listen: false }), () => db.$client.end());
    },
  },
  {
    name: "node-postgres with a client",
    dialect: "postgres",
    driver: "pg",
    transactions: "async",
    batches: false,
    async open() {
      const client = new Client(await createDatabase());
      await client.connect();
      const db = nodePostgres(client);
      return opened(db, postgres.fromDrizzle(db), () => client.end());
    },
  },
  {
    name: "Neon over HTTP",
    dialect: "postgres",
    driver: "neon-http",
    transactions: null,
    batches: true,
    async open() {
      const endpoint = await startNeonEndpoint({ postgresUrl: await createDatabase() });
      const db = neonHttp(neon(endpoint.connectionString));
      return opened(db, fromDrizzle(db), endpoint.stop, (statements) => db.$client.transaction(statements));
    },
  },
  {
    name: "PGlite",
    dialect: "postgres",
    driver: "pglite",
    transactions: "async",
    batches: false,
    async open() {
      const { client, close } = await openPglite();
      const db = pglite(client);
      return opened(db, fromDrizzle(db), close);
    },
  },
];
