// The parts of node-pg's `Pool`, `Client` and wire connection that Wadi uses, so that the driver does not import
// node-pg.

import type { Value } from "../../core/executor.ts";

/** A notification of LISTEN, as node-pg reports it. */
export interface PgNotification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

/** The part of a node-pg `Client` that Wadi uses. */
export interface PgClientLike {
  query(text: string): Promise<{ readonly command: string }>;
  query<T extends { submit(connection: PgConnectionLike): unknown }>(submittable: T): T;
  on(event: "notification", listener: (message: PgNotification) => void): unknown;
  on(event: "error" | "end", listener: (error?: unknown) => void): unknown;
  removeListener(event: "notification", listener: (message: PgNotification) => void): unknown;
  removeListener(event: "error" | "end", listener: (error?: unknown) => void): unknown;
  /** Lets its socket keep the process alive. */
  ref?(): unknown;
  /** Lets the process end although its socket is open. */
  unref?(): unknown;
  /** The wire connection, whose socket is destroyed if the server does not answer. */
  readonly connection?: { readonly stream?: { destroy?(): unknown } };
}

/** A client on loan from a node-pg `Pool`. */
export interface PgPoolClientLike extends PgClientLike {
  release(broken?: boolean): void;
}

/** The part of a node-pg `Pool` that Wadi uses. */
export interface PgPoolLike {
  readonly totalCount: number;
  /** Whether `end()` was called. */
  readonly ending?: boolean;
  readonly options?: { readonly max?: number | undefined; connectionTimeoutMillis?: number | undefined };
  connect(): Promise<PgPoolClientLike>;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "connect", listener: (client: PgClientLike) => void): unknown;
}

/** The part of node-pg's wire connection that a pipeline writes to. */
export interface PgConnectionLike {
  readonly stream: { cork?(): void; uncork?(): void; destroy(): void };
  parse(message: { name: string; text: string; types: [] }): void;
  bind(message: {
    statement: string;
    values: readonly Value[];
    valueMapper: (value: Value) => string | null;
  }): void;
  describe(message: { type: "P"; name: "" }): void;
  execute(message: { portal: "" }): void;
  close(message: { type: "S"; name: string }): void;
  sync(): void;
  sendCopyFail(message: string): void;
}

/** `I` outside of a transaction, `T` in one, `E` in one that has failed; null before the client is connected. */
export function transactionStatus(tx: unknown): string | null | undefined {
  const client = tx as { getTransactionStatus?: () => string | null } | null | undefined;
  return typeof client?.getTransactionStatus === "function" ? client.getTransactionStatus() : undefined;
}

/**
 * Whether `tx` is a client with an open transaction. Clients before node-pg 8.18 have no status: they count as in
 * one.
 */
export function isInTransaction(tx: unknown): tx is PgClientLike {
  const client = tx as PgClientLike | null | undefined;
  if (typeof client?.query !== "function" || "totalCount" in client) return false;
  const status = transactionStatus(client);
  return status === undefined || status === "T";
}
