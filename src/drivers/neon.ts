import { causeChain } from "../core/errors/causes.ts";
import type { ErrorClass, Executor, Limits, Row, Statement } from "../core/executor.ts";
import { type PgSchemaOption, protocolIn } from "./postgres/schema.ts";
import { classifySqlState, failedToConnect, sqlStateOf } from "./postgres/sqlstate.ts";
import { checkClient, checkOptions } from "./shared/options.ts";
import { isOverQuota } from "./shared/quota.ts";

export type { PgSchemaOption } from "./postgres/schema.ts";

/** How one query is sent and read. */
export interface NeonQueryOptions {
  arrayMode: false;
  fullResults: false;
  types: { getTypeParser(): (cell: string) => string };
  fetchOptions?: { signal: AbortSignal };
}

/** The subset of what `neon(url)` of `@neondatabase/serverless` returns that is used. */
export interface NeonQueryFunctionLike<Q extends NeonQueryLike = NeonQueryLike> {
  (strings: TemplateStringsArray, ...params: unknown[]): Q;
  /** Sends nothing by itself: every `then` or `await` sends the query once more. */
  query(text: string, params: unknown[], options: NeonQueryOptions): PromiseLike<unknown>;
  transaction(queries: never, options: NeonTransactionOptions): Promise<unknown[]>;
}

/** A query of the Neon driver that was not sent yet. */
export interface NeonQueryLike extends PromiseLike<unknown> {
  readonly queryData: unknown;
}

/** How an array of queries is sent as one transaction, and read. */
export interface NeonTransactionOptions {
  isolationLevel: "ReadCommitted";
  arrayMode: false;
  fullResults: false;
  fetchOptions?: { signal: AbortSignal };
}

const limits: Limits = {
  // Quotes are escaped in a request: JSON text can come near twice its size.
  maxParamBytes: 4_000_000,
  maxBatchStatements: 1_000,
  maxRequestBytes: 10 * 1024 * 1024,
  maxResponseBytes: 10 * 1024 * 1024,
};

/** Cells stay text. Types count only where they are given for each query, not for a client or a transaction. */
const AS_TEXT: NeonQueryOptions = {
  arrayMode: false,
  fullResults: false,
  types: { getTypeParser: () => (cell) => cell },
};

/** Statuses that say the statement was not run; after any other the proxy may have lost its answer. */
const STATUS: Readonly<Record<string, ErrorClass>> = {
  "401": "denied",
  "402": "busy", // over a quota
  "403": "denied",
  "404": "denied",
  "405": "rejected",
  "413": "invalid-value", // the request is too large
  "429": "busy",
  "507": "response-too-large", // after the work
};

/** Locks taken by one statement must show the next one what was committed meanwhile. Rows are objects whatever the client says. */
const TRANSACTION: NeonTransactionOptions = {
  isolationLevel: "ReadCommitted",
  arrayMode: false,
  fullResults: false,
};

/** An executor over Neon's SQL over HTTP: `neonHttp(neon(url))`. A run and a batch are one request each. */
export function neonHttp<Q extends NeonQueryLike>(
  sql: NeonQueryFunctionLike<Q>,
  options: PgSchemaOption = {},
): Executor<Q, false> {
  checkClient("neonHttp", sql, "the function returned by neon(url) (@neondatabase/serverless >= 1)", [
    "query",
    "transaction",
  ]);
  checkOptions("neonHttp", options, { schema: null });
  // What `query` gives is what a template gives, but for the shape of its results.
  const query = ({ sql: text, params }: Statement, signal?: AbortSignal) =>
    sql.query(text, [...params], { ...AS_TEXT, ...abortedBy(signal) }) as Q;
  const sendAll = async (queries: readonly Q[], signal?: AbortSignal) =>
    (await sql.transaction(queries as never, { ...TRANSACTION, ...abortedBy(signal) })) as Row[][];
  return {
    name: "neon-http",
    dialect: "postgres",
    protocol: protocolIn(options.schema),
    limits,
    database: sql,
    run: async (statement, { signal } = {}) => (await query(statement, signal)) as Row[],
    batch: async (statements, { signal } = {}) =>
      statements.length === 0
        ? []
        : sendAll(
            statements.map((statement) => query(statement)),
            signal,
          ),
    native: {
      prepare: (statements) => statements.map((statement) => query(statement)),
      is: (value): value is Q => (value as Q | null)?.queryData !== undefined,
      batch: (queries, { signal } = {}) => sendAll(queries, signal),
      // The results are as the owner's transaction asked for them.
      rows: (result) => (Array.isArray(result) ? result : (result as { rows: Row[] }).rows),
    },
    classify,
    close: async () => {},
  };
}

/** An answer that nobody waits for any more holds no request of the platform's few, and Neon cancels the query. */
function abortedBy(signal: AbortSignal | undefined): { fetchOptions?: { signal: AbortSignal } } {
  return signal === undefined ? {} : { fetchOptions: { signal } };
}

function classify(error: unknown): ErrorClass {
  const code = sqlStateOf(error);
  if (code !== undefined) return classifySqlState(code);
  if (failedToConnect(error)) return "unavailable";
  // The driver keeps a status only in its text. A 400 without SQLSTATE is a connection lost behind the proxy.
  const { message = "" } = (causeChain(error).find(isNeonError) ?? {}) as { message?: string };
  if (NO_DATABASE.test(message)) return "unusable";
  if (isOverQuota(message)) return "busy";
  const status = /^Server error \(HTTP status (\d{3})\)/.exec(message)?.[1];
  return STATUS[status ?? ""] ?? "unknown";
}

/** What `neon(undefined)` says, with its first query. */
const NO_DATABASE = /connection string|connection parameters/;

function isNeonError(cause: object): boolean {
  return (cause as { name?: unknown }).name === "NeonDbError";
}
