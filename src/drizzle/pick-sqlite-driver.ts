/** Finds the SQLite client in a Drizzle database and makes an executor with its driver. */

import type { Executor } from "../core/executor.ts";
import {
  type BetterSqlite3Like,
  type BetterSqlite3Options,
  betterSqlite3,
} from "../drivers/better-sqlite3.ts";
import { type D1Like, type D1StatementLike, d1 } from "../drivers/d1.ts";
import { type DurableObjectStorageLike, durableObject } from "../drivers/durable-object.ts";
import {
  type LibsqlClientLike,
  type LibsqlOptions,
  type LibsqlStatement,
  libsql,
} from "../drivers/libsql.ts";
import { type BatchStatement, withBatchItems } from "./batch-items.ts";
import { type DrizzleDatabase, hasMethods, withTransactions } from "./database.ts";

/** The SQLite databases of Drizzle and the options of their drivers. */
export interface FromSqlite {
  (db: DrizzleDatabase<BetterSqlite3Like>, options?: BetterSqlite3Options): ReturnType<typeof betterSqlite3>;
  (
    db: DrizzleDatabase<LibsqlClientLike>,
    options?: LibsqlOptions,
  ): Executor<BatchStatement<LibsqlStatement, "sqlite">, false>;
  <S extends D1StatementLike>(db: DrizzleDatabase<D1Like<S>>): Executor<BatchStatement<S, "sqlite">, false>;
  (db: DrizzleDatabase<DurableObjectStorageLike>): ReturnType<typeof durableObject>;
}

/** Clients that are accepted, for messages. */
export const SQLITE_CLIENTS = ["better-sqlite3", "libSQL", "D1", "Durable Objects"];

/** The executor of the SQLite client in `db`; undefined if it is of another kind. */
export function pickSqliteDriver(db: unknown, options: object | undefined): Executor | undefined {
  const { $client: client } = (db ?? {}) as Partial<DrizzleDatabase<never>>;
  if (hasMethods(client, "prepare", "pragma")) return withTransactions(betterSqlite3(client!, options));
  if (hasMethods(client, "execute", "executeMultiple")) {
    return withTransactions(withBatchItems(libsql(client!, options)));
  }
  if (hasMethods(client, "prepare", "batch")) return withBatchItems(d1<D1StatementLike>(client!));
  if (hasMethods(client, "transactionSync")) return withTransactions(durableObject(client!));
  return undefined;
}
