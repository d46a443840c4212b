/** The contract between Wadi and a database client: what a driver implements and what it may assume. */

import type { Protocol } from "./protocol.ts";

/** A value that crosses the boundary between Wadi and a database, in both directions. */
export type Value = string | number | null;

/** One row, keyed by column name. JSON columns arrive as text, 64-bit integers as numbers or digits. */
export type Row = Record<string, Value>;

/** SQL with positional placeholders (`?` on SQLite, `$n` on Postgres) and the values for them. */
export interface Statement {
  /** The text, with placeholders. */
  readonly sql: string;
  /** The value of each placeholder, in order. */
  readonly params: readonly Value[];
}

/** Which of the two sets of SQL statements a database understands. */
export type Dialect = "sqlite" | "postgres";

/** The capacity of one request to this database. */
export interface Limits {
  /** Largest single text parameter, and so the largest payload, in UTF-8 bytes. */
  readonly maxParamBytes: number;
  /** Most statements in one batch. */
  readonly maxBatchStatements: number;
  /**
   * Largest request in bytes as it is sent, including JSON escapes. A submit of many tasks is split by it.
   * @default no limit
   */
  readonly maxRequestBytes?: number | undefined;
  /**
   * Queries that one invocation of the platform should send; a batch of n statements counts n. Drains, waits and
   * `watch` stay within it. @default no limit
   */
  readonly maxQueries?: number | undefined;
  /** Largest response to one request, in bytes as it is sent. It bounds a claim. @default no limit */
  readonly maxResponseBytes?: number | undefined;
}

/**
 * The meaning of an error for the statement that caused it.
 *
 * - `conflict`: a constraint refused it; nothing was written.
 * - `busy`: a lock, a deadlock, a serialization check, an overload or a quota refused it; nothing was written.
 * - `unavailable`: the database was not reached or does not serve now (it starts, shuts down, is a standby); nothing
 *   was written. The driver has dropped its connection, so that the next try opens a new one.
 * - `denied`: it does not accept this client: the password, the token, a handle that may only read. Nothing was
 *   written. On first contact this is a mistake and fails immediately; later it is an outage, and the operation is sent
 *   again.
 * - `unusable`: the client itself cannot send anything: its owner closed it, or created it without a database.
 * - `missing-schema`: a table or column does not exist.
 * - `invalid-value`: it refused a value of this statement: too large, or of the wrong type. Nothing was written, and
 *   other values may be accepted. This is the only class that concerns the task itself.
 * - `response-too-large`: the response is larger than it or its client may send; the statement may have been committed.
 * - `rejected`: it understood the request and refused it for another reason; nothing was written, and sending it again
 *   would not help.
 * - `unknown`: the outcome is not known; the statement may have been committed.
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

/** How one request is sent. A driver may ignore every option. */
export interface SendOptions {
  /**
   * Whether a power failure may undo the commit, if that is cheaper. It must not undo this commit and keep a later one
   * that may not be lost.
   * @default false
   */
  readonly mayBeLost?: boolean | undefined;
  /**
   * Aborts once the caller stops waiting for the answer. A driver with connections destroys the one that owes the
   * answer, because it may be half-open and would be lent again.
   * @default none
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * What to do while the client's owner has a transaction open on the same connection: `refuse` throws `Unsupported`
   * immediately, because the caller may be the code that would end it. @default "wait"
   */
  readonly openTransaction?: "wait" | "refuse" | undefined;
}

/** Native statements of a client whose owner can send them in an atomic batch too. */
export interface NativeBatch<Native> {
  /** Converts Wadi's statements to native ones. Nothing is sent. */
  prepare(statements: readonly Statement[]): Native[];
  /** Whether `value` is a native statement of the client. */
  is(value: unknown): value is Native;
  /** Sends all of them in order in one transaction and one round trip; all or nothing. */
  batch(statements: readonly Native[], options?: SendOptions): Promise<Row[][]>;
  /** The rows in the result that the client returned for one statement of `prepare`. */
  rows(result: unknown): Row[];
}

/** The value itself if the client is synchronous, else a promise. */
export type Answer<Sync extends boolean, T> = Sync extends true ? T : Promise<T>;

/** A transaction that the application began and will end. */
export interface OpenTransaction<Sync extends boolean = boolean> {
  /** Whether the client is synchronous. */
  readonly isSync: Sync;
  /** Runs all statements in order as a part of the transaction, in one round trip. */
  batch(statements: readonly Statement[]): Answer<Sync, Row[][]>;
}

/**
 * A database client as Wadi uses it. Every statement returns rows, and a batch is atomic.
 *
 * A capability is an optional member and a quantity is a number; nothing branches on `name`. `Native` is the type of
 * the client's statements, and `Sync` says whether its open transactions are synchronous.
 */
export interface Executor<Native = unknown, Sync extends boolean = boolean> {
  /** For messages only. */
  readonly name: string;
  /** Which set of SQL statements it is sent. */
  readonly dialect: Dialect;
  /** The SQL of that dialect, from `wadi/protocol/sqlite` or `wadi/protocol/postgres`. */
  readonly protocol: Protocol;
  /** The capacity of one request. */
  readonly limits: Limits;
  /**
   * The identity of the database in this process: a text without secrets, or else the client object. Clients of one
   * database wake each other's waits and workers.
   */
  readonly database?: string | object;
  /** Runs one statement by itself, in one round trip, and returns its rows. */
  run(statement: Statement, options?: SendOptions): Promise<Row[]>;
  /** Runs all statements in order in one transaction and one round trip; all or nothing. */
  batch(statements: readonly Statement[], options?: SendOptions): Promise<Row[][]>;
  /** Present if the connection can hold an interactive transaction. The operations of Wadi never use it. */
  transaction?<T>(fn: (tx: Executor) => Promise<T>): Promise<T>;
  /**
   * Calls `onSignal(channel, payload)` for notifications until the returned function is called; a payload of null says
   * that something was committed, but not what. `onClose` is called once if the connection is lost; the caller falls
   * back to polling.
   */
  listen?(
    channels: readonly string[],
    onSignal: (channel: string, payload: string | null) => void,
    onClose: (error?: unknown) => void,
  ): Promise<() => void>;
  /** Present if the client itself takes an array of statements as one transaction. */
  readonly native?: NativeBatch<Native>;
  /** Sends statements into `tx`, an open transaction of this client; null if `tx` is not one. */
  within?(tx: unknown): OpenTransaction<Sync> | null;
  /** Updates the planner's statistics, if the database does not do so by itself. Cheap when there is nothing to do. */
  optimize?(): Promise<void>;
  /** Classifies an error that this executor threw, which decides what happens next. */
  classify(error: unknown): ErrorClass;
  /** Releases everything the driver itself opened; a borrowed client stays open. */
  close(): Promise<void>;
}
