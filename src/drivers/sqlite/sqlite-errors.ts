import type { ErrorClass } from "../../core/executor.ts";

/** Messages, because neither D1 nor a libSQL server sends a code that tells these from a syntax error. */
const MISSING_SCHEMA = /no such (table|column)|has no column named/;
/** What SQLite's functions say of a value, under the code of a syntax error. */
const INVALID_VALUE = /malformed JSON|JSON cannot hold|bad JSON path|integer overflow|too big|too large/;

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
    case "SQLITE_TOOBIG":
    case "SQLITE_MISMATCH":
      return "invalid-value";
    case "SQLITE_BUSY":
    case "SQLITE_LOCKED":
    case "SQLITE_PROTOCOL": // the lock protocol of the write-ahead log gave up
    case "SQLITE_SCHEMA": // the schema kept changing while the statement was prepared
    case "SQLITE_FULL": // no room now: nothing was written, and there is some again once somebody makes it
    case "SQLITE_NOMEM":
    case "SQLITE_INTERRUPT":
    case "SQLITE_ABORT": // rolled back under it
      return "busy";
    case "SQLITE_CANTOPEN": // no file, no directory or no file handle left: nothing was sent
      return "unavailable";
    case "SQLITE_READONLY": // the handle, the file, its folder, or only `pragma query_only` for a while
    case "SQLITE_PERM":
      return "denied";
    case "SQLITE_IOERR": // a failed sync may or may not have reached the disk
      return "unknown";
    default: // among them CORRUPT and NOTADB: nothing was written, and asking again does not help
      return INVALID_VALUE.test(message) ? "invalid-value" : "rejected";
  }
}

/** The code that D1 and Durable Objects put at the end of an error's text. */
export function sqliteCodeIn(message: string): string | undefined {
  return /: (SQLITE_[A-Z_]+)(?: \(extended: [A-Z_]+\))?$/.exec(message)?.[1];
}

/** No disk or memory left. That is no lock: the driver's own wait for locks would be in vain. */
export function isExhausted(error: unknown): boolean {
  return /^SQLITE_(?:FULL|NOMEM)/.test((error as { code?: string } | null)?.code ?? "");
}
