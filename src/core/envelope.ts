import { TaskError, WadiError } from "./errors.ts";
import type { ErrorEnvelope, Json } from "./task.ts";

/** Longest error message that is stored, in characters. */
const MAX_MESSAGE = 4000;

/** Builds the envelope that is stored with a failed attempt. */
export function envelope(
  type: string,
  code: string,
  message: string,
  retryable: boolean,
  details: Json = null,
): ErrorEnvelope {
  // NUL and lone surrogates would make Postgres refuse the whole settlement.
  const clean = message.slice(0, MAX_MESSAGE).replaceAll("\0", "").toWellFormed();
  return { type, code, message: clean, retryable, details };
}

/** Builds the envelope for whatever a handler threw. */
export function envelopeOf(error: unknown): ErrorEnvelope {
  if (error instanceof TaskError || (WadiError.is(error) && error.code === "TASK_ERROR")) {
    const thrown = error as TaskError;
    return envelope(
      thrown.name,
      thrown.taskCode,
      thrown.message,
      thrown.retryable,
      jsonDetails(thrown.details),
    );
  }
  if (error instanceof Error) {
    return envelope(error.name || "Error", "handler_error", error.message, true);
  }
  return envelope(
    typeof error,
    "handler_error",
    typeof error === "string" ? error : "a value that is no Error was thrown",
    true,
  );
}

/** Details are a courtesy: what JSON cannot hold is left out rather than losing the failure. */
function jsonDetails(details: unknown): Json {
  try {
    const text = JSON.stringify(details);
    if (text === undefined || text.includes("\\u0000") || /\\ud[89a-f]/.test(text)) return null;
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
