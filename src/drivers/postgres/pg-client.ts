/** The parts of node-pg's `Pool`, `Client` and connection that Wadi uses, so that the driver does not import the package. */

import type { Value } from "../../core/executor.ts";

export interface PgNotification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

/** The subset of a node-pg `Client` that is used. */
export interface PgClientLike {
  query(text: string): Promise<{ readonly command: string }>;
  query<T extends { submit(connection: PgConnectionLike): unknown }>(submittable: T): T;
  on(event: "notification", listener: (message: PgNotification) => void): unknown;
  on(event: "error" | "end", listener: (error?: unknown) => void): unknown;
  removeListener(event: "notification", listener: (message: PgNotification) => void): unknown;
  removeListener(event: "error" | "end", listener: (error?: unknown) => void): unknown;
  /** Whether its socket keeps the process alive. */
  ref?(): unknown;
  unref?(): unknown;
  /** The wire: a client that owes an answer is cut off there, and not asked to end. */
  readonly connection?: { readonly stream?: { destroy?(): unknown } };
}

/** The subset of a node-pg `Pool` that is used. */
export interface PgPoolLike {
  readonly totalCount: number;
  /** Whether its owner called `end()`. */
  readonly ending?: boolean;
  readonly options?: { readonly max?: number | undefined; connectionTimeoutMillis?: number | undefined };
  connect(): Promise<PgClientLike & { release(broken?: boolean): void }>;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "connect", listener: (client: PgClientLike) => void): unknown;
}

/** The subset of node-pg's wire connection that a pipeline writes to. */
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
