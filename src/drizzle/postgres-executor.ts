import type { Executor } from "../core/executor.ts";
import { type NeonQueryFunctionLike, neonHttp } from "../drivers/neon.ts";
import { type PgClientLike, type PgOptions, type PgPoolLike, pg } from "../drivers/pg.ts";
import { type PgliteLike, pglite } from "../drivers/pglite.ts";
import { type DrizzleDatabase, hasMethods, withTransactions } from "./database.ts";

/** The Postgres databases of Drizzle and the options of their drivers. */
export interface FromPostgres {
  (db: DrizzleDatabase<PgPoolLike | PgClientLike>, options?: PgOptions): ReturnType<typeof pg>;
  (db: DrizzleDatabase<NeonQueryFunctionLike>): ReturnType<typeof neonHttp>;
  (db: DrizzleDatabase<PgliteLike>): ReturnType<typeof pglite>;
}

/** For messages. */
export const POSTGRES_CLIENTS = ["node-postgres", "Neon over HTTP", "PGlite"];

/** The executor of the Postgres client in `db`; undefined if it is of another kind. */
export function postgresExecutor(db: unknown, options: object | undefined): Executor | undefined {
  const { $client: client } = (db ?? {}) as Partial<DrizzleDatabase<never>>;
  if (typeof client === "function") {
    return hasMethods(client, "query", "transaction") ? neonHttp(client) : undefined;
  }
  if (hasMethods(client, "query", "transaction", "listen")) return withTransactions(pglite(client!));
  return isNodePg(client) ? withTransactions(pg(client, options)) : undefined;
}

/** A pool counts its clients and a client knows its backend; those of other databases do neither. */
function isNodePg(client: unknown): client is PgPoolLike | PgClientLike {
  if (!hasMethods(client, "connect", "query", "on")) return false;
  return "totalCount" in (client as object) || "processID" in (client as object);
}
