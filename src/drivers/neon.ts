/**
 * The driver for Neon's SQL over HTTP, with `@neondatabase/serverless` on any platform with `fetch`. It has no
 * interactive transactions and no push: waits and workers poll.
 */

import type { Executor, Limits, Row, Statement } from "../core/executor.ts";
import type {
  NeonQueryFunctionLike,
  NeonQueryLike,
  NeonQueryOptions,
  NeonTransactionOptions,
} from "./postgres/neon-client.ts";
import { classifyNeon } from "./postgres/neon-errors.ts";
import { type PgSchemaOption, protocolIn } from "./postgres/schema.ts";
import { checkClient, checkOptions } from "./shared/check-arguments.ts";

export type {
  NeonQueryFunctionLike,
  NeonQueryLike,
  NeonQueryOptions,
  NeonTransactionOptions,
} from "./postgres/neon-client.ts";
export type { PgSchemaOption } from "./postgres/schema.ts";

const LIMITS: Limits = {
  // Quotes are escaped in a request, which can almost double the size of JSON text.
  maxParamBytes: 4_000_000,
  maxBatchStatements: 1_000,
  maxRequestBytes: 10 * 1024 * 1024,
  maxResponseBytes: 10 * 1024 * 1024,
};

/** Cells stay text. The Neon driver reads types only from the options of a query, not of a client or a transaction. */
const AS_TEXT: NeonQueryOptions = {
  arrayMode: false,
  fullResults: false,
  types: { getTypeParser: () => (cell) => cell },
};

/**
 * After one statement waited for a lock, the next must see what was committed meanwhile. Rows are objects, whatever the
 * client's defaults are.
 */
const TRANSACTION: NeonTransactionOptions = {
  isolationLevel: "ReadCommitted",
  arrayMode: false,
  fullResults: false,
};

/**
 * An executor over Neon's SQL over HTTP: `neonHttp(neon(url))`. A run and a batch are one request each.
 *
 * @example
 * ```ts
 * import { neon } from "@neondatabase/serverless";
 * import { Wadi } from "wadi";
 * import { neonHttp } from "wadi/neon";
 *
 * const wadi = new Wadi(neonHttp(neon(env.DATABASE_URL!)));
 * ```
 */
export function neonHttp<Q extends NeonQueryLike>(
  sql: NeonQueryFunctionLike<Q>,
  options: PgSchemaOption = {},
): Executor<Q, false> {
  checkClient("neonHttp", sql, "the function returned by neon(url) (@neondatabase/serverless >= 1)", [
    "query",
    "transaction",
  ]);
  checkOptions("neonHttp", options, { schema: null });
  // A query of `sql.query` has the same type as one of a template; only the form of its result differs.
  const query = ({ sql: text, params }: Statement, signal?: AbortSignal) =>
    sql.query(text, [...params], { ...AS_TEXT, ...abortedBy(signal) }) as Q;
  const sendAll = async (queries: readonly Q[], signal?: AbortSignal) =>
    (await sql.transaction(queries as never, { ...TRANSACTION, ...abortedBy(signal) })) as Row[][];
  const prepare = (statements: readonly Statement[]) => statements.map((statement) => query(statement));
  return {
    name: "neon-http",
    dialect: "postgres",
    protocol: protocolIn(options.schema),
    limits: LIMITS,
    database: sql,
    run: async (statement, { signal } = {}) => (await query(statement, signal)) as Row[],
    batch: async (statements, { signal } = {}) =>
      statements.length === 0 ? [] : sendAll(prepare(statements), signal),
    native: {
      prepare,
      is: (value): value is Q => (value as Q | null)?.queryData !== undefined,
      batch: (queries, { signal } = {}) => sendAll(queries, signal),
      // The form depends on the options of the application's transaction.
      rows: (result) => (Array.isArray(result) ? result : (result as { rows: Row[] }).rows),
    },
    classify: classifyNeon,
    close: async () => {},
  };
}

/** Aborts the request, of which a platform allows only a few at a time; Neon then cancels the query. */
function abortedBy(signal: AbortSignal | undefined): { fetchOptions?: { signal: AbortSignal } } {
  return signal === undefined ? {} : { fetchOptions: { signal } };
}
