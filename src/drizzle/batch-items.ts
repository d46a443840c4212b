/** Makes native statements usable as items of Drizzle's `db.batch()`. */

import type { BatchItem } from "drizzle-orm/batch";
import type { Executor, Statement } from "../core/executor.ts";

/** A statement for the batch of the client, and for `db.batch()` of Drizzle too. */
export type BatchStatement<Native, Dialect extends "sqlite" | "pg"> = Native & BatchItem<Dialect>;

/** The members that Drizzle's `batch()` requires of each item. */
interface PreparedItem {
  getQuery(): { readonly sql: string; readonly params: readonly unknown[] };
  /** The statement that D1 sends, with its parameters bound. */
  readonly stmt: { bind(): unknown };
  /** False, because Neon would return rows as arrays otherwise. */
  isResponseInArrayMode(): boolean;
  mapResult(result: unknown): unknown;
}

/** The same executor, whose native statements can also be items of Drizzle's `batch()`. */
export function withBatchItems<Native extends object, Dialect extends "sqlite" | "pg">(
  executor: Executor<Native, false>,
  mapResult: (result: unknown) => unknown = (result) => result,
): Executor<BatchStatement<Native, Dialect>, false> {
  const native = executor.native!;
  const itemOf = (statement: Statement, prepared: Native) => {
    const drizzleItem: PreparedItem = {
      getQuery: () => statement,
      stmt: { bind: () => prepared },
      isResponseInArrayMode: () => false,
      mapResult,
    };
    return withPrepare(prepared, () => drizzleItem) as BatchStatement<Native, Dialect>;
  };
  return {
    ...executor,
    native: {
      ...native,
      prepare: (statements) =>
        native.prepare(statements).map((prepared, index) => itemOf(statements[index]!, prepared)),
      is: (value): value is BatchStatement<Native, Dialect> => native.is(value),
    },
  };
}

/** Adds Drizzle's `_prepare` to the statement; a proxy does so if the statement is a stub that takes no property. */
function withPrepare<Native extends object>(statement: Native, prepare: () => PreparedItem): Native {
  Object.defineProperty(statement, "_prepare", { value: prepare, configurable: true });
  if ((statement as { _prepare?: unknown })._prepare === prepare) return statement;
  return new Proxy(statement, {
    get: (target, name) => (name === "_prepare" ? prepare : Reflect.get(target, name)),
  });
}
