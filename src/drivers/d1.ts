/**
 * The driver for Cloudflare D1, in a Worker. It has no interactive transactions and no push: waits and workers poll.
 */

import type { Executor, Limits, Row, Statement } from "../core/executor.ts";
import { sqlite } from "../protocol/sqlite.ts";
import { checkClient } from "./shared/check-arguments.ts";
import { classifyD1 } from "./sqlite/cloudflare-errors.ts";

/** The part of the result of a statement of D1 that Wadi uses. */
export interface D1ResultLike {
  readonly results: unknown[];
}

/** The part of a prepared statement of D1 that Wadi uses. */
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
  // A row ends at 2 MB, and its other columns need the rest. Local runtimes do not enforce it.
  maxParamBytes: 1_900_000,
  maxBatchStatements: 50, // queries in one invocation on the free plan
  maxQueries: 40, // of those 50: handlers have the other 10
  maxResponseBytes: 50_000_000,
};

const executors = new WeakMap<object, Executor<never, false>>();

/**
 * An executor on a Cloudflare D1 binding, the same one for the same binding. Every call goes to the primary, also if
 * there are read replicas.
 *
 * @example
 * ```ts
 * import { Wadi } from "wadi";
 * import { type D1Like, d1 } from "wadi/d1";
 *
 * export default {
 *   async fetch(request: Request, { DB }: { DB: D1Like }) {
 *     const { id } = await new Wadi(d1(DB)).submit("resize", await request.json());
 *     return Response.json({ id });
 *   },
 * };
 * ```
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
  // bind() returns a statement of the same type.
  const toNative = ({ sql, params }: Statement) => binding.prepare(sql).bind(...params) as S;
  const toRows = (result: unknown) => (result as D1ResultLike).results as Row[];
  const sendAll = async (statements: readonly S[]) => (await binding.batch([...statements])).map(toRows);
  return {
    name: "d1",
    dialect: "sqlite",
    protocol: sqlite,
    limits: LIMITS,
    database: binding,
    classify: classifyD1,
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
