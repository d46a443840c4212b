// What the errors of a libSQL client mean, for a file and for a server.

import type { ErrorClass } from "../../core/executor.ts";
import { classifySqlite, isExhausted, refusedInTransaction } from "./sqlite-errors.ts";

export interface LibsqlErrorLike extends Error {
  readonly code?: string;
  readonly cause?: { readonly code?: string; readonly status?: number };
}

export function classify(error: unknown): ErrorClass {
  if (!(error instanceof Error)) return "unknown";
  const { code, cause, message, name } = error as LibsqlErrorLike;
  const known = classifySqlite(code, message);
  if (known !== undefined) return known;
  switch (code) {
    case undefined: // fetch failed, or the client refused a value before it sent anything
      if (UNSENT.test(cause?.code ?? "")) return "unavailable";
      return name === "RangeError" ? "invalid-value" : "unknown";
    case "TRANSACTION_TIMEOUT": // the server rolled back to let another writer in
    case "TRANSACTION_BUSY":
    case "TRANSACTION_ACTIVE":
    case "STREAM_EXPIRED": // its open transaction was rolled back
      return "busy";
    case "CLIENT_CLOSED":
      return "unusable";
    case "BLOCKED": // the account, until its plan changes
      return "denied";
    case "RESPONSE_TOO_LARGE":
      return "response-too-large";
    case "SERVER_ERROR": // the HTTP status is all there is
      return classifyStatus(cause?.status ?? 500);
    default:
      return REFUSED.test(code) ? "rejected" : "unknown"; // PROXY_ERROR, HRANA_*: may be committed
  }
}

const UNSENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/;
const REFUSED = /^(SQL_|ARGS_|URL_|PROTOCOL_VERSION_ERROR$)/;

function classifyStatus(status: number): ErrorClass {
  if (status === 429 || status === 402) return "busy";
  if (status === 401 || status === 403 || status === 404) return "denied";
  if (status === 413) return "invalid-value";
  return status < 500 ? "rejected" : "unknown"; // a gateway may have given up on a request that went through
}

/** Whether the error is a lock, which is worth waiting for. */
export function isLocked(error: unknown): boolean {
  return classify(error) === "busy" && !isExhausted(error);
}

/** Whether a COMMIT failed because a statement that met a lock was never finalized. */
export function isStatementInProgress(error: unknown): boolean {
  return error instanceof Error && error.message.includes("SQL statements in progress");
}

/** Another connection still has the write lock. */
export class StillLocked extends Error {
  readonly code = "SQLITE_BUSY";
  constructor() {
    super("database is locked");
  }
}

/**
 * `call`, which fails with `Unsupported` during a transaction on a client in memory: such a client has one
 * connection.
 */
export function refusingOpenTransaction<T>(call: () => Promise<T>): () => Promise<T> {
  return async () => {
    try {
      return await call();
    } catch (error) {
      if ((error as LibsqlErrorLike).code !== "TRANSACTION_ACTIVE") throw error;
      throw refusedInTransaction("libSQL client", "tx");
    }
  };
}
