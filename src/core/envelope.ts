import { type TaskError, WadiError } from "./errors.ts";
import { encodeJson, type JsonTarget } from "./json.ts";
import type { ErrorEnvelope, Json } from "./task.ts";

/** Longest text of an error that is stored, in characters. */
const MAX_TEXT = 4000;

/** NUL and lone surrogates would make Postgres refuse the whole settlement, and what is thrown may hold anything. */
const clean = (text: unknown) => String(text).slice(0, MAX_TEXT).replaceAll("\0", "").toWellFormed();

/** Builds the envelope that is stored with a failed attempt. */
export function envelope(
  type: string,
  code: string,
  message: string,
  retryable: boolean,
  details: Json = null,
): ErrorEnvelope {
  return { type: clean(type), code: clean(code), message: clean(message), retryable, details };
}

/** Builds the envelope for whatever a handler threw. */
export function envelopeOf(error: unknown, target: JsonTarget): ErrorEnvelope {
  try {
    if (WadiError.is(error) && error.code === "TASK_ERROR") {
      const { name, taskCode, message, retryable, details } = error as TaskError;
      return envelope(name, taskCode, message, retryable, jsonDetails(details, target));
    }
    if (error instanceof Error) {
      return envelope(error.name, "handler_error", error.message, true, causeOf(error));
    }
  } catch {
    // One of its getters threw.
  }
  return envelope(
    typeof error,
    "handler_error",
    typeof error === "string" ? error : "what was thrown is no Error",
    true,
  );
}

/** Errors of Wadi leave it to their cause to say what the database or a schema said. */
function causeOf(error: Error): Json {
  const { cause } = error;
  return WadiError.is(error) && cause instanceof Error
    ? { cause: clean(`${cause.name}: ${cause.message}`) }
    : null;
}

/** Details are a courtesy: what JSON or this database cannot hold is left out rather than losing the failure. */
function jsonDetails(details: unknown, target: JsonTarget): Json {
  try {
    const plain = JSON.parse(JSON.stringify(details)) as Json;
    encodeJson(plain, "", target);
    return plain;
  } catch {
    return null;
  }
}
