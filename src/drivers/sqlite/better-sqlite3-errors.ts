// What better-sqlite3's errors mean, and the error of a handle with an open transaction.

import type { ErrorClass } from "../../core/executor.ts";
import { classifySqlite, isExhausted } from "./sqlite-errors.ts";

export function classify(error: unknown): ErrorClass {
  if (!(error instanceof Error)) return "rejected";
  if (error.message === "The database connection is not open") return "unusable";
  if (error instanceof RangeError && /too big/.test(error.message)) return "invalid-value"; // not bound, so no code
  // The engine runs in this thread, so its answer is never lost: an unknown error is a refusal.
  return classifySqlite((error as { code?: string }).code, error.message) ?? "rejected";
}

/** Whether the error is a lock, which is worth waiting for. */
export function isLocked(error: unknown): boolean {
  return classify(error) === "busy" && !isExhausted(error);
}

/** The application has a transaction open on the handle. It has the code of a lock, because waiting resolves it too. */
export class HandleInTransaction extends Error {
  readonly code = "SQLITE_BUSY";
  constructor() {
    super("the better-sqlite3 handle is inside a transaction that the application has not ended yet");
  }
}
