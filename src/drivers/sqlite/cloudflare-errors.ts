// What the errors of D1 and of a Durable Object's SQLite mean. Both have texts, and no `code`.

import type { ErrorClass } from "../../core/executor.ts";
import { isOverQuota } from "../shared/quota.ts";
import { classifySqlite } from "./sqlite-errors.ts";

/** The code of SQLite, where the text ends with one. */
const CODE = /: (SQLITE_[A-Z_]+)(?: \(extended: [A-Z_]+\))?$/;

function classifyText(message: string): ErrorClass | undefined {
  return classifySqlite(CODE.exec(message)?.[1], message);
}

/** The texts are those of D1's documentation and of its local runtime. */
export function classifyD1(error: unknown): ErrorClass {
  if (!(error instanceof Error)) return "unknown";
  const { message } = error;
  const known = classifyText(message);
  if (known !== undefined) return known;
  if (/overloaded|requests queued/i.test(message) || isOverQuota(message)) return "busy";
  if (/D1_TYPE_ERROR|too big/i.test(message)) return "invalid-value";
  if (/cannot resolve D1 DB/i.test(message)) return "unavailable";
  return REFUSED.test(message) ? "rejected" : "unknown"; // connection lost, object reset, timeout: may be committed
}

const REFUSED = /parameter bindings|No SQL statements|not authorized|To execute a transaction/i;

export function classifyDurableObject(error: unknown): ErrorClass {
  if (!(error instanceof Error)) return "rejected";
  // The engine runs in this thread, so its answer is never lost: an unknown error is a refusal.
  return classifyText(error.message) ?? (isOverQuota(error.message) ? "busy" : "rejected");
}
