import type { BatchItem } from "drizzle-orm/batch";
import type { Executor, Statement } from "../core/executor.ts";

/** A statement for the client's own batch, and for `db.batch()` of Drizzle too. */
export type BatchStatement<Native, Dialect extends "sqlite" | "pg"> = Native & BatchItem<Dialect>;

/** What Drizzle's `batch()` asks each of its items for. */
interface PreparedItem {
  getQuery(): { readonly sql: string; readonly params: readonly unknown[] };
  /** D1 binds the parameters to this one. */
  readonly stmt: { bind(): unknown };
  /** Neon makes arrays of rows otherwise. */
  isResponseInArrayMode(): boolean;
  mapResult(result: unknown): unknown;
}

/** The same executor, whose native statements can also be items of Drizzle's `batch()`. */
export function withBatchItems<Native extends object, Dialect extends "sqlite" | "pg">(
  executor: Executor<Native, false>,
  mapResult: (result: unknown) => unknown = (result) => result,
): Executor<BatchStatement<Native, Dialect>, false> {
  const native = executor.native!;
  const item = (statement: Statement, own: Native) => {
    const prepared: PreparedItem = {
      getQuery: () => statement,
      stmt: { bind: () => own },
      isResponseInArrayMode: () => false,
      mapResult,
    };
    return withPrepare(own, () => prepared) as BatchStatement<Native, Dialect>;
  };
  return {
    ...executor,
    native: {
      ...native,
      prepare: (statements) => native.prepare(statements).map((own, index) => item(statements[index]!, own)),
      is: (value): value is BatchStatement<Native, Dialect> => native.is(value),
    },
  };
}

/** The statement itself with a method more; or one that stands for it, where it stands for one in another process. */
function withPrepare<Native extends object>(own: Native, prepare: () => PreparedItem): Native {
  Object.defineProperty(own, "_prepare", { value: prepare, configurable: true });
  if ((own as { _prepare?: unknown })._prepare === prepare) return own;
  return new Proxy(own, {
    get: (target, name) => (name === "_prepare" ? prepare : Reflect.get(target, name)),
  });
}
