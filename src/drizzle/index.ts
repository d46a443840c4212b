/** The entry point `wadi/drizzle`: the executor of a Drizzle database of either dialect. */

import { refuse } from "./database.ts";
import { type FromPostgres, POSTGRES_CLIENTS, pickPostgresDriver } from "./pick-postgres-driver.ts";
import { type FromSqlite, pickSqliteDriver, SQLITE_CLIENTS } from "./pick-sqlite-driver.ts";

export type { BatchStatement } from "./batch-items.ts";
export type { DrizzleDatabase } from "./database.ts";
export type { FromPostgres } from "./pick-postgres-driver.ts";
export type { FromSqlite } from "./pick-sqlite-driver.ts";

/**
 * The executor of a Drizzle database with any client that Wadi has a driver for. It sends through the client in
 * `db.$client`, takes the options of the client's driver, and accepts Drizzle's transactions. `wadi/drizzle/sqlite` and
 * `wadi/drizzle/postgres` export the same function for one dialect, in a smaller bundle, together with the tables.
 *
 * @throws {InvalidArgument} if the client is of another kind.
 * @example
 * ```ts
 * import { drizzle } from "drizzle-orm/better-sqlite3";
 * import { Wadi } from "wadi";
 * import { fromDrizzle } from "wadi/drizzle";
 *
 * const wadi = new Wadi(fromDrizzle(drizzle("app.db")));
 * ```
 */
export const fromDrizzle: FromSqlite & FromPostgres = ((db: unknown, options?: object) =>
  pickSqliteDriver(db, options) ??
  pickPostgresDriver(db, options) ??
  refuse(db, [...SQLITE_CLIENTS, ...POSTGRES_CLIENTS])) as FromSqlite & FromPostgres;
