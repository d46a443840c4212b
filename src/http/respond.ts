/** Responses: JSON bodies, and the status of each error. */

import { WadiError } from "../core/errors/errors.ts";
import { HttpError } from "./http-error.ts";

/** A JSON response that no cache keeps. */
export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}

/** `{ error: { code, message, retryable } }` with the status and headers of the error. */
export function errorResponse({ status, code, message, retryable, headers }: HttpError): Response {
  return json(status, { error: { code, message, retryable } }, headers);
}

const STATUS: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  SERIALIZATION_ERROR: 400,
  ALREADY_EXISTS: 409,
  SCOPE_MISMATCH: 409,
  QUEUE_FULL: 429,
};

/** Errors whose messages contain nothing of the database and say what the operator has to do. */
const PUBLIC_MESSAGES = new Set(["PROTOCOL_VERSION_MISMATCH", "SCHEMA_MISMATCH", "UNSUPPORTED"]);

/** The error that the client gets. Messages of a database or of a task's handler are not passed on. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (!WadiError.is(error)) {
    return new HttpError(500, "INTERNAL_ERROR", "the request failed; the log of this function says why");
  }
  const { code, message, retryable } = error;
  const status = STATUS[code];
  const options = { retryable, headers: retryable ? { "retry-after": "1" } : {} };
  if (status !== undefined) return new HttpError(status, code, message, options);
  if (code === "DRIVER_ERROR" && retryable) {
    return new HttpError(503, code, "the database is not available at the moment; try again", options);
  }
  if (PUBLIC_MESSAGES.has(code)) return new HttpError(500, code, message);
  return new HttpError(500, code, "the database refused the request; the log of this function says why");
}
