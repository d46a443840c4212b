/** Finds the Postgres client in a Drizzle database and makes an executor with its driver. */

import type { Executor } from "../core/executor.ts";
import { type NeonQueryFunctionLike, type NeonQueryLike, neonHttp } from "../drivers/neon.ts";
import { type PgClientLike, type PgOptions, type PgPoolLike, pg } from "../drivers/pg.ts";
import { type PgliteLike, pglite } from "../drivers/pglite.ts";
import type { PgSchemaOption } from "../drivers/postgres/schema.ts";
import { type BatchStatement, withBatchItems } from "./batch-items.ts";
import { type DrizzleDatabase, hasMethods, withTransactions } from "./database.ts";

/** The Postgres databases of Drizzle and the options of their drivers. */
export interface FromPostgres {
  (db: DrizzleDatabase<PgPoolLike | PgClientLike>, options?: PgOptions): ReturnType<typeof pg>;
  <Q extends NeonQueryLike>(
    db: DrizzleDatabase<NeonQueryFunctionLike<Q>>,
    options?: PgSchemaOption,
  ): Executor<BatchStatement<Q, "pg">, false>;
  (db: DrizzleDatabase<PgliteLike>, options?: PgSchemaOption): ReturnType<typeof pglite>;
}

/** Clients that are accepted, for messages. */
export const POSTGRES_CLIENTS = ["node-postgres", "Neon over HTTP", "PGlite"];

/** The executor of the Postgres client in `db`; undefined if it is of another kind. */
export function pickPostgresDriver(db: unknown, options: object | undefined): Executor | undefined {
  const { $client: client } = (db ?? {}) as Partial<DrizzleDatabase<never>>;
  if (typeof client === "function") {
    if (!hasMethods(client, "query", "transaction")) return undefined;
    return withBatchItems(neonHttp<NeonQueryLike>(client, options), jsonAsText);
  }
  if (hasMethods(client, "query", "transaction", "listen")) return withTransactions(pglite(client!, options));
  return isNodePg(client) ? withTransactions(pg(client, options)) : undefined;
}

/**
 * A pool of node-pg counts its clients and a client knows its backend process; clients of other databases have neither.
 */
function isNodePg(client: unknown): client is PgPoolLike | PgClientLike {
  if (!hasMethods(client, "connect", "query", "on")) return false;
  return "totalCount" in (client as object) || "processID" in (client as object);
}

interface NeonResult {
  readonly rows: readonly Record<string, unknown>[];
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

const JSON_TYPES = [114, 3802];

/** Drizzle sends an item with its type parsers, so the JSON in the rows arrives parsed: Wadi expects text. */
function jsonAsText(result: unknown): unknown {
  const { rows, fields } = result as NeonResult;
  const parsed = fields.filter(({ dataTypeID }) => JSON_TYPES.includes(dataTypeID)).map(({ name }) => name);
  return rows.map((row) => {
    const texts = parsed.map((name) => [name, row[name] === null ? null : JSON.stringify(row[name])]);
    return { ...row, ...Object.fromEntries(texts) };
  });
}
