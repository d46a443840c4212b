/** The entry point `wadi/drizzle/sqlite`: the executor of a Drizzle database on SQLite, and the tables. */

import { refuse } from "./database.ts";
import { type FromSqlite, pickSqliteDriver, SQLITE_CLIENTS } from "./pick-sqlite-driver.ts";

export type { BatchStatement } from "./batch-items.ts";
export type { DrizzleDatabase } from "./database.ts";
export type { FromSqlite } from "./pick-sqlite-driver.ts";
export * from "./sqlite-tables.ts";

/**
 * The executor of a Drizzle database on SQLite: better-sqlite3, libSQL, D1 or a Durable Object. It sends through the
 * client in `db.$client`, takes the options of the client's driver, and accepts Drizzle's transactions.
 *
 * @throws {InvalidArgument} if the client is of another kind.
 * @example
 * ```ts
 * import { drizzle } from "drizzle-orm/better-sqlite3";
 * import { Wadi } from "wadi";
 * import { fromDrizzle, tasks } from "wadi/drizzle/sqlite";
 *
 * const db = drizzle("app.db");
 * const wadi = new Wadi(fromDrizzle(db));
 * const rows = db.select().from(tasks).limit(10).all();
 * ```
 */
export const fromDrizzle: FromSqlite = ((db: unknown, options?: object) =>
  pickSqliteDriver(db, options) ?? refuse(db, SQLITE_CLIENTS)) as FromSqlite;
