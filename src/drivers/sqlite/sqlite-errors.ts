// What SQLite's errors mean, for every client of it: each has the engine's code, or the engine's text, or both.

import { Unsupported } from "../../core/errors/wadi-error.ts";
import type { ErrorClass } from "../../core/executor.ts";

/** Texts, because neither D1 nor a libSQL server sends a code that distinguishes these from a syntax error. */
const MISSING_SCHEMA = /no such (table|column)|has no column named/;
/** Messages of SQLite's functions about a bad value, which have the code of a syntax error. */
const INVALID_VALUE = /malformed JSON|JSON cannot hold|bad JSON path|integer overflow|too big|too large/;

/**
 * What an SQLite error means for the statement that failed; undefined if neither code nor message is known.
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
    case "SQLITE_TOOBIG":
    case "SQLITE_MISMATCH":
      return "invalid-value";
    case "SQLITE_BUSY":
    case "SQLITE_LOCKED":
    case "SQLITE_PROTOCOL": // the lock protocol of the write-ahead log gave up
    case "SQLITE_SCHEMA": // the schema kept changing while the statement was prepared
    case "SQLITE_FULL": // no space: nothing was written, and it works again once there is space
    case "SQLITE_NOMEM":
    case "SQLITE_INTERRUPT":
    case "SQLITE_ABORT": // its transaction was rolled back by another statement
      return "busy";
    case "SQLITE_CANTOPEN": // no file, no directory or no file handle left: nothing was sent
      return "unavailable";
    case "SQLITE_READONLY": // the handle, the file or its folder; or `pragma query_only`, which may be temporary
    case "SQLITE_PERM":
      return "denied";
    case "SQLITE_IOERR": // a failed sync may or may not have reached the disk
      return "unknown";
    default: // CORRUPT and NOTADB among them: nothing was written, and trying again does not help
      return INVALID_VALUE.test(message) ? "invalid-value" : "rejected";
  }
}

/** Disk or memory is exhausted. Classified as busy, but not a lock: it does not go away within a busy timeout. */
export function isExhausted(error: unknown): boolean {
  return /^SQLITE_(?:FULL|NOMEM)/.test((error as { code?: string } | null)?.code ?? "");
}

/** The error of a call that would wait for the caller's open transaction, which may itself wait for the call. */
export function refusedInTransaction(client: string, argument: string): Unsupported {
  return new Unsupported(
    `the ${client} is inside a transaction that you began; ` +
      `make this call a part of it with wadi.with(${argument}), or call after its end`,
  );
}
