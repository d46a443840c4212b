import type { Executor } from "../core/executor.ts";
import {
  type BetterSqlite3Like,
  type BetterSqlite3Options,
  betterSqlite3,
} from "../drivers/better-sqlite3.ts";
import { type D1Like, d1 } from "../drivers/d1.ts";
import { type DurableObjectStorageLike, durableObject } from "../drivers/durable-object.ts";
import { type LibsqlClientLike, type LibsqlOptions, libsql } from "../drivers/libsql.ts";
import { type DrizzleDatabase, hasMethods, withTransactions } from "./database.ts";

/** The SQLite databases of Drizzle and the options of their drivers. */
export interface FromSqlite {
  (db: DrizzleDatabase<BetterSqlite3Like>, options?: BetterSqlite3Options): ReturnType<typeof betterSqlite3>;
  (db: DrizzleDatabase<LibsqlClientLike>, options?: LibsqlOptions): ReturnType<typeof libsql>;
  (db: DrizzleDatabase<D1Like>): ReturnType<typeof d1>;
  (db: DrizzleDatabase<DurableObjectStorageLike>): ReturnType<typeof durableObject>;
}

/** For messages. */
export const SQLITE_CLIENTS = ["better-sqlite3", "libSQL", "D1", "Durable Objects"];

/** The executor of the SQLite client in `db`; undefined if it is of another kind. */
export function sqliteExecutor(db: unknown, options: object | undefined): Executor | undefined {
  const { $client: client } = (db ?? {}) as Partial<DrizzleDatabase<never>>;
  if (hasMethods(client, "prepare", "pragma")) return withTransactions(betterSqlite3(client!, options));
  if (hasMethods(client, "execute", "executeMultiple")) return withTransactions(libsql(client!, options));
  if (hasMethods(client, "prepare", "batch")) return d1(client!);
  if (hasMethods(client, "transactionSync")) return withTransactions(durableObject(client!));
  return undefined;
}
