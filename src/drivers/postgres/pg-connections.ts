// How a node-pg executor gets its connections: the interface of a pool and of a shared client, and what they lend.

import type { SerialQueue } from "../shared/serial-queue.ts";
import type { PgClientLike } from "./pg-client.ts";

/** A client on loan for one use. */
export interface BorrowedClient {
  readonly client: PgClientLike;
  /** Marks the connection as broken, so that it is not used again. */
  drop(): void;
}

/** A client on loan for listening, until it is released. */
export interface ListenClient {
  readonly client: PgClientLike;
  /** Commands are sent one at a time, because a shared client has other users too. */
  readonly commands: SerialQueue;
  release(isBroken: boolean): void;
  /** Whether the application is ending the pool, which waits for the release. */
  isEnding(): boolean;
}

/** How an executor gets its connections: from the application's pool, or the application's one client. */
export interface PgConnections {
  /**
   * Calls `use` with a client. If `signal` aborts, a pool's connection is destroyed, which fails the call in flight.
   */
  borrow<T>(use: (borrowed: BorrowedClient) => Promise<T>, signal?: AbortSignal): Promise<T>;
  takeToListen(): Promise<ListenClient>;
}

/**
 * Does nothing. As a listener of `error` events it keeps node-pg from ending the process: calls in flight fail
 * anyway.
 */
export function ignore(): void {}
