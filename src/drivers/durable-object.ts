import type { ErrorClass, Executor, Limits, Row, Statement } from "../core/executor.ts";
import { sqlite } from "../protocol/sqlite.ts";
import { checkClient } from "./shared/options.ts";
import { isOverQuota } from "./shared/quota.ts";
import { classifySqlite, sqliteCodeIn } from "./sqlite/sqlite-errors.ts";

/** The part of a `DurableObjectStorage` with SQLite that Wadi uses. */
export interface DurableObjectStorageLike {
  readonly sql: { exec(sql: string, ...params: (string | number | null)[]): { toArray(): unknown[] } };
  transactionSync<T>(work: () => T): T;
}

const LIMITS: Limits = {
  // A row or string ends at 2 MB; what is left over is for the other columns of the row.
  maxParamBytes: 1_900_000,
  maxBatchStatements: 1000,
};

/**
 * An executor on the SQLite of a Durable Object: `durableObject(ctx.storage)`. Its class needs `new_sqlite_classes` in the
 * Wrangler configuration.
 *
 * The engine runs in the object's own thread: nothing is sent over a network, and no other writer can hold a lock.
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
    classify,
    run: async (statement) => query(statement),
    batch: async (statements) => (statements.length === 0 ? [] : batch(statements)),
    // There is one connection, so that whatever transaction is open on this storage is the one that is meant.
    within: (tx) => (tx === storage ? { isSync: true, batch } : null),
    async close() {},
  };
}

function classify(error: unknown): ErrorClass {
  if (!(error instanceof Error)) return "rejected";
  const known = classifySqlite(sqliteCodeIn(error.message), error.message);
  if (known !== undefined) return known;
  // The engine runs in this thread, so its answer is never lost: what is not named is a refusal.
  return isOverQuota(error.message) ? "busy" : "rejected";
}
