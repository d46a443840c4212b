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
  QUEUE_FULL: 429,
};

/** Messages of these come from Wadi alone and say what the operator has to do. */
const TELLING = new Set(["PROTOCOL_VERSION_MISMATCH", "SCHEMA_MISMATCH", "UNSUPPORTED"]);

/** What the caller is told about an error. Nothing of a database's or a handler's own error gets out. */
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
  if (TELLING.has(code)) return new HttpError(500, code, message);
  return new HttpError(500, code, "the database refused the request; the log of this function says why");
}
