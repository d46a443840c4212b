import { SerialQueue } from "../shared/serial-queue.ts";
import type { PgClientLike } from "./pg-client.ts";
import { type BorrowedClient, ignore, type ListenClient, type PgConnections } from "./pg-connections.ts";

/**
 * One client that is shared with the application: calls are sent one at a time, and the connection is never
 * destroyed.
 */
export class PgSharedClient implements PgConnections {
  readonly #client: PgClientLike;
  readonly #calls = new SerialQueue(); // node-pg 9 will not queue queries any more

  constructor(client: PgClientLike) {
    this.#client = client;
  }

  borrow<T>(use: (borrowed: BorrowedClient) => Promise<T>): Promise<T> {
    return this.#calls.run(() => use({ client: this.#client, drop: ignore }));
  }

  async takeToListen(): Promise<ListenClient> {
    return { client: this.#client, commands: this.#calls, release: ignore, isEnding: () => false };
  }
}
