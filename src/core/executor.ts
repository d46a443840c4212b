import type { Protocol } from "./protocol.ts";

/** A value that crosses the boundary between Wadi and a database, in both directions. */
export type Value = string | number | null;

/** One row, keyed by column name. JSON columns arrive as text, 64-bit integers as numbers or digits. */
export type Row = Record<string, Value>;

/** SQL with positional placeholders (`?` on SQLite, `$n` on Postgres) and the values for them. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly Value[];
}

export type Dialect = "sqlite" | "postgres";

/** What one request to this database can carry. */
export interface Limits {
  /** Largest single text parameter, and so the largest payload, in UTF-8 bytes. */
  readonly maxParamBytes: number;
  /** Most statements in one batch. */
  readonly maxBatchStatements: number;
  /** Largest request in bytes as it travels, JSON escapes included. A submit of many is split by it. @default no limit */
  readonly maxRequestBytes?: number | undefined;
  /**
   * Queries that one invocation of the platform should send; a batch of n statements counts n. Drains, waits and `watch`
   * keep within it. @default no limit
   */
  readonly maxQueries?: number | undefined;
  /** Largest answer to one request, in bytes as it travels. A claim is bounded by it. @default no limit */
  readonly maxResponseBytes?: number | undefined;
}

/**
 * How an error relates to the statement that met it.
 *
 * - `conflict`: a constraint refused it; nothing was written.
 * - `busy`: a lock, a deadlock, a serialization check, an overload or a quota refused it; nothing was written.
 * - `unavailable`: the database was not reached or does not serve now (it starts, shuts down, is a standby); nothing was
 *   written. What the driver keeps open to it was dropped, so that the next try takes a new connection.
 * - `denied`: it does not accept this client: the password, the token, a handle that may only read. Nothing was written.
 *   On first contact this is a mistake and fails at once; later it is an outage, and is waited out.
 * - `unusable`: the client itself can send nothing any more: its owner closed it, or made it without a database.
 * - `missing-schema`: a table or column does not exist.
 * - `invalid-value`: it refused a value of this statement: too large, or not of the type. Nothing was written, and other
 *   values may go through. The only class that says something about the task itself.
 * - `response-too-large`: the answer is larger than it or its client may send; it may have been committed.
 * - `rejected`: it understood the request and refused it for another reason; nothing was written, and sending it again is no use.
 * - `unknown`: the outcome is not known, the statement may have been committed.
 */
export type ErrorClass =
  | "conflict"
  | "busy"
  | "unavailable"
  | "denied"
  | "unusable"
  | "missing-schema"
  | "invalid-value"
  | "response-too-large"
  | "rejected"
  | "unknown";

/** How one request is sent. A driver may ignore all of it. */
export interface SendOptions {
  /** The commit may be taken back by a power failure, if that is cheaper, but not if a later one that may not is kept. */
  readonly mayBeLost?: boolean | undefined;
  /**
   * Aborts once nobody waits for the answer any more. A driver with connections destroys the one that owes it: it may be
   * half-open, and would be lent again.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * What to do while the client's owner has a transaction open on the very connection: `refuse` throws `Unsupported` at
   * once, because the caller may be the code that would end it. @default "wait"
   */
  readonly openTransaction?: "wait" | "refuse" | undefined;
}

/** Statements of the client's own kind, where its owner can send an atomic batch of them too. */
export interface NativeBatch<Native> {
  /** Wadi's statements as the client's own kind. Nothing is sent. */
  prepare(statements: readonly Statement[]): Native[];
  /** Whether `value` is a statement of the client's own kind. */
  is(value: unknown): value is Native;
  /** Sends all of them in order in one transaction and one round trip; all or nothing. */
  batch(statements: readonly Native[], options?: SendOptions): Promise<Row[][]>;
  /** The rows in what the client answers to one of `prepare`. */
  rows(result: unknown): Row[];
}

/** The value itself from a client that answers at once, a promise from any other. */
export type Answer<Sync extends boolean, T> = Sync extends true ? T : Promise<T>;

/** A transaction that somebody else began and will end. */
export interface OpenTransaction<Sync extends boolean = boolean> {
  /** Whether the client answers at once. */
  readonly isSync: Sync;
  /** Runs all statements in order as a part of the transaction, in one round trip. */
  batch(statements: readonly Statement[]): Answer<Sync, Row[][]>;
}

/**
 * What Wadi needs from a database client. Every statement returns rows, a batch is atomic.
 *
 * A capability is an optional member and a quantity is a number; nothing branches on `name`. `Native` is the client's
 * own kind of statement, and `Sync` says whether its open transactions answer at once.
 */
export interface Executor<Native = unknown, Sync extends boolean = boolean> {
  /** For messages only. */
  readonly name: string;
  readonly dialect: Dialect;
  /** The SQL of that dialect, from `wadi/protocol/sqlite` or `wadi/protocol/postgres`. */
  readonly protocol: Protocol;
  readonly limits: Limits;
  /**
   * What identifies the database in this process: a text without secrets, or else the client object. Clients of one
   * database wake each other's waits and workers.
   */
  readonly database?: string | object;
  /** Runs one statement by itself, in one round trip, and returns its rows. */
  run(statement: Statement, options?: SendOptions): Promise<Row[]>;
  /** Runs all statements in order in one transaction and one round trip; all or nothing. */
  batch(statements: readonly Statement[], options?: SendOptions): Promise<Row[][]>;
  /** Present where the connection can hold an interactive transaction. Wadi's own operations never use it. */
  transaction?<T>(fn: (tx: Executor) => Promise<T>): Promise<T>;
  /**
   * Calls `onSignal(channel, payload)` for notifications until the returned function is called; a payload of null says
   * that something was committed and not what. `onClose` is called once if the connection is lost; the caller falls back
   * to polling.
   */
  listen?(
    channels: readonly string[],
    onSignal: (channel: string, payload: string | null) => void,
    onClose: (error?: unknown) => void,
  ): Promise<() => void>;
  /** Present where the client itself takes an array of statements as one transaction. */
  readonly native?: NativeBatch<Native>;
  /** Statements sent into `tx`, a transaction of this client's own kind that is open; null if it is none. */
  within?(tx: unknown): OpenTransaction<Sync> | null;
  /** Brings the planner's statistics up to date, where nobody else does. Cheap when there is nothing to do. */
  optimize?(): Promise<void>;
  classify(error: unknown): ErrorClass;
  /** Releases what the driver itself opened; a borrowed client stays open. */
  close(): Promise<void>;
}
