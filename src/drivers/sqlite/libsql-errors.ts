import { Unsupported } from "../../core/errors/wadi-error.ts";
import type { ErrorClass } from "../../core/executor.ts";
import { classifySqlite } from "./sqlite-errors.ts";

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
    case "STREAM_EXPIRED": // with it went its open transaction
      return "busy";
    case "CLIENT_CLOSED":
      return "unusable";
    case "BLOCKED": // the account's, until its plan changes
      return "denied";
    case "RESPONSE_TOO_LARGE":
      return "response-too-large";
    case "SERVER_ERROR": // an HTTP status and no more
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

/** A client in memory has one connection, and says so while a transaction is open on it. */
export function refusing<T>(call: () => Promise<T>): () => Promise<T> {
  return async () => {
    try {
      return await call();
    } catch (error) {
      if ((error as LibsqlErrorLike).code !== "TRANSACTION_ACTIVE") throw error;
      throw new Unsupported(
        "the libSQL client is inside a transaction that you began; make this call a part of it with wadi.with(tx), or call after its end",
      );
    }
  };
}
