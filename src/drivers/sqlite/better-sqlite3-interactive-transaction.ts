import type { Executor } from "../../core/executor.ts";
import type { ExecutorTraits } from "../shared/inherited-members.ts";
import type { BorrowedHandle } from "./better-sqlite3-borrowed-handle.ts";

/** Calls `fn` with an executor for the transaction that was just begun on `handle`, and ends the transaction. */
export async function runInTransaction<T>(
  handle: BorrowedHandle,
  traits: ExecutorTraits,
  fn: (tx: Executor) => Promise<T>,
): Promise<T> {
  let isOpen = true;
  const whileOpen = async <R>(work: () => R): Promise<R> => {
    if (!isOpen) throw new Error("this transaction has ended; its executor cannot be used any more");
    return work();
  };
  try {
    const result = await fn({
      ...traits,
      run: (statement) => whileOpen(() => handle.query(statement)),
      batch: (statements) => whileOpen(() => handle.runInSavepoint(statements)),
      close: async () => {},
    });
    handle.command("commit");
    return result;
  } finally {
    isOpen = false;
    if (handle.inTransaction) handle.command("rollback");
  }
}
