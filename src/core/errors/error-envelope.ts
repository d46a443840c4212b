import { encodeJson, type JsonTarget } from "../json/json.ts";
import type { ErrorEnvelope, Json } from "../task.ts";
import { cleanText, describeError, isErrorLike } from "./describe-error.ts";
import { type TaskError, WadiError } from "./errors.ts";

/** Most characters of JSON that the details of a handler's own may have. */
const MAX_DETAILS = 64_000;

/** Builds the envelope that is stored with a failed attempt. */
export function envelope(
  type: string,
  code: string,
  message: string,
  retryable: boolean,
  details: Json = {},
): ErrorEnvelope {
  return { type: cleanText(type), code: cleanText(code), message: cleanText(message), retryable, details };
}

/** Builds the envelope for whatever a handler threw. Never throws. */
export function envelopeOf(error: unknown, target: JsonTarget): ErrorEnvelope {
  if (!isErrorLike(error)) {
    if (typeof error === "string") return envelope("string", "handler_error", error, true);
    const thrown = ownDetails(error, target);
    const details = thrown === undefined || thrown === null ? {} : { thrown };
    return envelope(typeof error, "handler_error", "a non-Error value was thrown", true, details);
  }
  const { name, message, code, ...rest } = describeError(error);
  const said = saidBy(error);
  if (said === null) {
    const details = code === undefined ? rest : { code, ...rest };
    return envelope(name, "handler_error", message, true, details as Json);
  }
  // Thrown on purpose: its code says more than where that was.
  const { stack: _, ...described } = rest;
  return envelope(name, said.code, message, said.retryable, withOwn(said.details, described as Json, target));
}

/** What a TaskError says by itself; null of any other error. */
function saidBy(error: object): { code: string; retryable: boolean; details: unknown } | null {
  try {
    if (!WadiError.is(error) || error.code !== "TASK_ERROR") return null;
    const { taskCode, retryable, details } = error as TaskError;
    return { code: taskCode, retryable, details };
  } catch {
    return null; // one of its getters threw
  }
}

/** What the handler says goes before what the error says by itself, and nothing is added to what is no object. */
export function withOwn(own: unknown, described: Json, target: JsonTarget): Json {
  const kept = ownDetails(own, target);
  if (kept === undefined || kept === null) return described;
  return isObject(kept) && isObject(described) ? { ...described, ...kept } : kept;
}

function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Details are a courtesy: texts are made safe, and what JSON or this database cannot hold, or is too large, is left out
 * rather than losing the failure.
 */
function ownDetails(details: unknown, target: JsonTarget): Json | undefined {
  try {
    const json = JSON.stringify(details, (_, value) =>
      typeof value === "string" ? cleanText(value, MAX_DETAILS) : value,
    );
    if (json === undefined) return undefined;
    if (json.length > MAX_DETAILS) return { omitted: `details of ${json.length} characters` };
    const plain = JSON.parse(json) as Json;
    encodeJson(plain, "", target);
    return plain;
  } catch {
    return undefined;
  }
}
