// What the errors of Neon's SQL over HTTP mean. Those of Postgres have a SQLSTATE, those of the proxy an HTTP status.

import { causeChain } from "../../core/errors/causes.ts";
import type { ErrorClass } from "../../core/executor.ts";
import { isOverQuota } from "../shared/quota.ts";
import { classifySqlState, failedToConnect, sqlStateOf } from "./sqlstate.ts";

/** Statuses of a statement that was not run; after any other the proxy may have lost the answer. */
const STATUS: Readonly<Record<string, ErrorClass>> = {
  "401": "denied",
  "402": "busy", // over a quota
  "403": "denied",
  "404": "denied",
  "405": "rejected",
  "413": "invalid-value", // the request is too large
  "429": "busy",
  "507": "response-too-large", // after the work
};

/** The message of the first query of `neon(undefined)`. */
const NO_DATABASE = /connection string|connection parameters/;

export function classifyNeon(error: unknown): ErrorClass {
  const code = sqlStateOf(error);
  if (code !== undefined) return classifySqlState(code);
  if (failedToConnect(error)) return "unavailable";
  // The driver keeps the status only in its text. A 400 without SQLSTATE is a connection lost behind the proxy.
  const { message = "" } = (causeChain(error).find(isNeonError) ?? {}) as { message?: string };
  if (NO_DATABASE.test(message)) return "unusable";
  if (isOverQuota(message)) return "busy";
  const status = /^Server error \(HTTP status (\d{3})\)/.exec(message)?.[1];
  return STATUS[status ?? ""] ?? "unknown";
}

function isNeonError(cause: object): boolean {
  return (cause as { name?: unknown }).name === "NeonDbError";
}
