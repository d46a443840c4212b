import type { Executor, Row, Statement } from "../../core/executor.ts";
import type { PgClientLike } from "./pg-client.ts";

/**
 * Runs `fn` in a transaction on `client`, with an executor like `outer` that sends through `send`.
 *
 * A statement that fails ends the transaction: what `fn` sends after it fails too, even if `fn` caught the error.
 * `drop` is called when the connection may still be in the transaction at the end.
 */
export async function pgTransaction<T>(
  client: PgClientLike,
  drop: () => void,
  outer: Executor,
  send: (statements: readonly Statement[]) => Promise<Row[][]>,
  fn: (tx: Executor) => Promise<T>,
): Promise<T> {
  const tx: Executor = {
    name: outer.name,
    dialect: outer.dialect,
    protocol: outer.protocol,
    limits: outer.limits,
    run: async (statement) => (await send([statement]))[0]!,
    batch: async (statements) => (statements.length === 0 ? [] : send(statements)),
    classify: outer.classify,
    close: async () => {},
  };
  try {
    await client.query("begin isolation level read committed");
    const result = await fn(tx);
    const { command } = await client.query("commit");
    // Postgres answers the commit of a failed transaction with success and the word ROLLBACK.
    if (command !== "COMMIT")
      throw new Error("the transaction was rolled back: a statement in it had failed");
    return result;
  } catch (error) {
    await client.query("rollback").catch(drop);
    throw error;
  }
}
