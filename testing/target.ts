// The type of a test target: an engine and a driver, how to open a fresh database, and what was sent to it.

import type { Dialect, Executor } from "../src/core/executor.ts";

export type TargetName =
  | "better-sqlite3-file"
  | "better-sqlite3-memory"
  | "libsql-file"
  | "libsql-http"
  | "pg"
  | "neon-http"
  | "d1"
  | "durable-object"
  | "pglite";

/** The cost since the target was opened; `null` where the engine does not report it. */
export interface Meter {
  roundTrips: number;
  statements: number;
  rowsRead: number | null;
  rowsWritten: number | null;
}

export interface OpenTarget {
  executor: Executor;
  /** One more independent connection to the same database. */
  connect(): Promise<Executor>;
  meter(): Meter;
  close(): Promise<void>;
}

export interface Target {
  name: TargetName;
  dialect: Dialect;
  /** A fresh empty database each time. */
  open(): Promise<OpenTarget>;
}
