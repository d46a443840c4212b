/**
 * The driver for the SQLite of a Cloudflare Durable Object, inside the object. It has no interactive transactions, and
 * needs no push: every writer is in the same object.
 */

import type { Executor, Limits, Row, Statement } from "../core/executor.ts";
import { sqlite } from "../protocol/sqlite.ts";
import { checkClient } from "./shared/check-arguments.ts";
import { classifyDurableObject } from "./sqlite/cloudflare-errors.ts";

/** The part of a `DurableObjectStorage` with SQLite that Wadi uses. */
export interface DurableObjectStorageLike {
  readonly sql: { exec(sql: string, ...params: (string | number | null)[]): { toArray(): unknown[] } };
  transactionSync<T>(work: () => T): T;
}

const LIMITS: Limits = {
  maxParamBytes: 1_900_000, // a row ends at 2 MB, and its other columns need the rest
  maxBatchStatements: 1000,
};

/**
 * An executor on the SQLite of a Durable Object: `durableObject(ctx.storage)`. Its class needs `new_sqlite_classes`
 * in the Wrangler configuration.
 *
 * The engine runs in the object's thread: nothing is sent over a network, and no other writer can hold a lock.
 *
 * @example
 * ```ts
 * import { Wadi } from "wadi";
 * import { type DurableObjectStorageLike, durableObject } from "wadi/durable-object";
 *
 * export class Jobs {
 *   readonly wadi: Wadi;
 *   constructor(state: { readonly storage: DurableObjectStorageLike }) {
 *     this.wadi = new Wadi(durableObject(state.storage));
 *   }
 * }
 * ```
 */
export function durableObject(storage: DurableObjectStorageLike): Executor<never, true> {
  checkClient("durableObject", storage, "the storage of a Durable Object, ctx.storage", ["transactionSync"]);
  const query = ({ sql, params }: Statement) => storage.sql.exec(sql, ...params).toArray() as Row[];
  const batch = (statements: readonly Statement[]) => storage.transactionSync(() => statements.map(query));
  return {
    name: "durable-object",
    dialect: "sqlite",
    protocol: sqlite,
    limits: LIMITS,
    database: storage,
    classify: classifyDurableObject,
    run: async (statement) => query(statement),
    batch: async (statements) => (statements.length === 0 ? [] : batch(statements)),
    // There is one connection, so the storage itself stands for the transaction that is open on it.
    within: (tx) => (tx === storage ? { isSync: true, batch } : null),
    async close() {},
  };
}
