/** The entry point `wadi/drizzle/postgres`: the executor of a Drizzle database on Postgres, and the tables. */

import { refuse } from "./database.ts";
import { type FromPostgres, POSTGRES_CLIENTS, pickPostgresDriver } from "./pick-postgres-driver.ts";

export type { BatchStatement } from "./batch-items.ts";
export type { DrizzleDatabase } from "./database.ts";
export type { FromPostgres } from "./pick-postgres-driver.ts";
export * from "./postgres-tables.ts";

/**
 * The executor of a Drizzle database on Postgres: node-postgres, Neon over HTTP or PGlite. It sends through the
 * client in `db.$client`, takes the options of the client's driver, and accepts Drizzle's transactions.
 *
 * @throws {InvalidArgument} if the client is of another kind.
 * @example
 * ```ts
 * import { drizzle } from "drizzle-orm/node-postgres";
 * import { Wadi } from "wadi";
 * import { fromDrizzle, tasks } from "wadi/drizzle/postgres";
 *
 * const db = drizzle(env.DATABASE_URL!);
 * const wadi = new Wadi(fromDrizzle(db));
 * const rows = await db.select().from(tasks).limit(10);
 * ```
 */
export const fromDrizzle: FromPostgres = ((db: unknown, options?: object) =>
  pickPostgresDriver(db, options) ?? refuse(db, POSTGRES_CLIENTS)) as FromPostgres;
