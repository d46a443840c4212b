import type { Executor, Row, Statement } from "../../core/executor.ts";
import type { ExecutorTraits } from "../shared/inherited-members.ts";
import type { PgClientLike } from "./pg-client.ts";

/**
 * Runs `fn` in a transaction on `client`, with an executor that has `traits` and sends through `send`.
 *
 * A failed statement fails the transaction: later statements of `fn` fail too, even if `fn` caught the error.
 * `drop` is called if the connection may still be in the transaction at the end.
 */
export async function runInTransaction<T>(
  client: PgClientLike,
  drop: () => void,
  traits: ExecutorTraits,
  send: (statements: readonly Statement[]) => Promise<Row[][]>,
  fn: (tx: Executor) => Promise<T>,
): Promise<T> {
  const tx: Executor = {
    ...traits,
    run: async (statement) => (await send([statement]))[0]!,
    batch: async (statements) => (statements.length === 0 ? [] : send(statements)),
    close: async () => {},
  };
  try {
    await client.query("begin isolation level read committed");
    const result = await fn(tx);
    const { command } = await client.query("commit");
    // Postgres answers the COMMIT of a failed transaction with success and the command ROLLBACK.
    if (command !== "COMMIT")
      throw new Error("the transaction was rolled back: a statement in it had failed");
    return result;
  } catch (error) {
    await client.query("rollback").catch(drop);
    throw error;
  }
}
