import type { ErrorClass } from "../core/executor.ts";

/** Messages, because neither D1 nor a libSQL server sends a code that tells these from a syntax error. */
const MISSING_SCHEMA = /no such (table|column)|has no column named/;

/**
 * What an SQLite error says about the statement that met it; undefined if neither code nor message is known.
 * `code` may be a base code (`SQLITE_BUSY`) or an extended one (`SQLITE_BUSY_SNAPSHOT`).
 */
export function classifySqlite(code: string | undefined, message: string): ErrorClass | undefined {
  if (MISSING_SCHEMA.test(message)) return "missing-schema";
  const base = /^SQLITE_[A-Z]+/.exec(code ?? "")?.[0];
  switch (base) {
    case undefined:
      return undefined;
    case "SQLITE_CONSTRAINT":
      return "conflict";
    case "SQLITE_BUSY":
    case "SQLITE_LOCKED":
    case "SQLITE_PROTOCOL": // the lock protocol of the write-ahead log gave up
    case "SQLITE_SCHEMA": // the schema kept changing while the statement was prepared
    case "SQLITE_FULL": // no room now: nothing was written, and there is some again once somebody makes it
      return "busy";
    case "SQLITE_CANTOPEN": // no file, no directory or no file handle left: nothing was sent
      return "unavailable";
    case "SQLITE_IOERR": // a failed sync may or may not have reached the disk
      return "unknown";
    default: // among them READONLY, CORRUPT and NOTADB: nothing was written, and asking again does not help
      return "rejected";
  }
}

/** A full disk is no lock: it would be waited for in vain. */
export function isFull(error: unknown): boolean {
  return (error as { code?: string } | null)?.code === "SQLITE_FULL";
}
