import type { ErrorClass, Executor, Limits, Row, Statement } from "../core/executor.ts";
import { sqlite } from "../protocol/sqlite.ts";
import { checkClient } from "./shared/options.ts";
import { isOverQuota } from "./shared/quota.ts";
import { classifySqlite, sqliteCodeIn } from "./sqlite/sqlite-errors.ts";

export interface D1ResultLike {
  readonly results: unknown[];
}

export interface D1StatementLike {
  bind(...values: unknown[]): D1StatementLike;
  all(): Promise<D1ResultLike>;
}

/** The part of a `D1Database` binding that Wadi uses. */
export interface D1Like<S extends D1StatementLike = D1StatementLike> {
  prepare(sql: string): S;
  batch(statements: S[]): Promise<D1ResultLike[]>;
}

const LIMITS: Limits = {
  // A row or string ends at 2 MB; what is left over is for the other columns of the row. Local runtimes do not enforce it.
  maxParamBytes: 1_900_000,
  maxBatchStatements: 50, // queries in one invocation on the free plan
  maxQueries: 40, // of those 50: handlers have the other 10
  maxResponseBytes: 50_000_000,
};

const executors = new WeakMap<object, Executor<never, false>>();

/**
 * An executor on a Cloudflare D1 binding, the same one for the same binding. Every call goes to the primary, also where
 * read replicas exist.
 */
export function d1<S extends D1StatementLike>(binding: D1Like<S>): Executor<S, false> {
  const known = executors.get(binding);
  if (known !== undefined) return known;
  checkClient("d1", binding, "a D1 binding, such as env.DB", ["prepare", "batch"]);
  const executor = d1Executor(binding);
  executors.set(binding, executor as Executor<never, false>);
  return executor;
}

function d1Executor<S extends D1StatementLike>(binding: D1Like<S>): Executor<S, false> {
  // Binding gives a statement of the same kind.
  const toNative = ({ sql, params }: Statement) => binding.prepare(sql).bind(...params) as S;
  const toRows = (result: unknown) => (result as D1ResultLike).results as Row[];
  const sendAll = async (statements: readonly S[]) => (await binding.batch([...statements])).map(toRows);
  return {
    name: "d1",
    dialect: "sqlite",
    protocol: sqlite,
    limits: LIMITS,
    database: binding,
    classify,
    run: async (statement) => toRows(await toNative(statement).all()),
    // D1 refuses an empty batch.
    batch: async (statements) => (statements.length === 0 ? [] : sendAll(statements.map(toNative))),
    native: {
      prepare: (statements) => statements.map(toNative),
      is: (value): value is S =>
        typeof (value as S | null)?.bind === "function" && typeof (value as S).all === "function",
      batch: sendAll,
      rows: toRows,
    },
    async close() {},
  };
}

/** D1 has no error codes, only texts; the wording is that of its documentation and its local runtime. */
function classify(error: unknown): ErrorClass {
  if (!(error instanceof Error)) return "unknown";
  const message = error.message;
  const known = classifySqlite(sqliteCodeIn(message), message);
  if (known !== undefined) return known;
  if (/overloaded|requests queued/i.test(message) || isOverQuota(message)) return "busy";
  if (/D1_TYPE_ERROR|too big/i.test(message)) return "invalid-value";
  if (/cannot resolve D1 DB/i.test(message)) return "unavailable";
  return REFUSED.test(message) ? "rejected" : "unknown"; // connection lost, object reset, time-out: may be committed
}

const REFUSED = /parameter bindings|No SQL statements|not authorized|To execute a transaction/i;
