import type { Executor, Row, Statement } from "../../core/executor.ts";
import type { ExecutorTraits } from "../shared/inherited-members.ts";
import type { PgClientLike } from "./pg-client.ts";
import type { PgConnections } from "./pg-connections.ts";
import { stalePlanCode, type UnsentErrors } from "./pg-errors.ts";
import { runInTransaction } from "./pg-interactive-transaction.ts";
import { forgetPrepared, PgPipeline, queryFor } from "./pg-pipeline.ts";
import { endsConnection, sqlStateOf } from "./sqlstate.ts";

/** Sends the statements of one executor, prepared by name unless a pooler may switch the connection below. */
export class PgSender {
  readonly #connections: PgConnections;
  readonly #unsent: UnsentErrors;
  #prepares: boolean;

  /** @param prepares Whether statements are prepared under a name. */
  constructor(connections: PgConnections, unsent: UnsentErrors, prepares: boolean) {
    this.#connections = connections;
    this.#unsent = unsent;
    this.#prepares = prepares;
  }

  /** Sends `statements` in one round trip, over a connection borrowed for it. Together they are one transaction. */
  send(statements: readonly Statement[], signal?: AbortSignal): Promise<Row[][]> {
    return this.#connections.borrow(async ({ client, drop }) => {
      try {
        return await this.#sendPrepared(client, statements);
      } catch (error) {
        if (endsConnection(sqlStateOf(error))) drop();
        throw error;
      }
    }, signal);
  }

  /**
   * Sends `statements` on `client` without prepared names: inside a transaction, a stale one could not be sent again,
   * because its error fails the transaction.
   */
  sendUnprepared(client: PgClientLike, statements: readonly Statement[]): Promise<Row[][]> {
    return this.#pipeline(client, statements, false);
  }

  /** Runs `fn` in an interactive transaction on a borrowed connection. */
  transaction<T>(traits: ExecutorTraits, fn: (tx: Executor) => Promise<T>): Promise<T> {
    return this.#connections.borrow(({ client, drop }) =>
      runInTransaction(client, drop, traits, (statements) => this.sendUnprepared(client, statements), fn),
    );
  }

  async #sendPrepared(client: PgClientLike, statements: readonly Statement[]): Promise<Row[][]> {
    const prepares = this.#prepares;
    try {
      return await this.#pipeline(client, statements, prepares);
    } catch (error) {
      const code = prepares ? stalePlanCode(error) : undefined;
      if (code === undefined) throw error;
      if (code === "0A000") forgetPrepared();
      else this.#prepares = false;
      return await this.#pipeline(client, statements, this.#prepares); // the first try committed nothing
    }
  }

  #pipeline(client: PgClientLike, statements: readonly Statement[], prepares: boolean): Promise<Row[][]> {
    return new Promise((resolve, reject) => {
      const query = new PgPipeline(statements, prepares, (error, results) => {
        if (error === null || error === undefined) return resolve(results!);
        if (!query.submitted) this.#unsent.add(error);
        reject(error);
      });
      client.query(queryFor(client, query));
    });
  }
}
