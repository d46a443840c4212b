/** The error envelope: how a failure is stored with its task, for every SDK to read. */

import { isRecord } from "../json/is-record.ts";
import { encodeJson, type JsonTarget } from "../json/json.ts";
import type { ErrorEnvelope, Json } from "../task.ts";
import { cleanText, describeError, isErrorLike } from "./describe-error.ts";
import { type TaskError, WadiError } from "./errors.ts";

/** Most characters of JSON in the details that a handler passes. */
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

/** Builds the envelope for anything that a handler threw. Never throws. */
export function envelopeOf(error: unknown, target: JsonTarget): ErrorEnvelope {
  if (!isErrorLike(error)) {
    if (typeof error === "string") return envelope("string", "handler_error", error, true);
    const thrown = handlerDetails(error, target);
    const details = thrown === undefined || thrown === null ? {} : { thrown };
    return envelope(typeof error, "handler_error", "a non-Error value was thrown", true, details);
  }
  const { name, message, code, ...rest } = describeError(error);
  const taskError = taskErrorFields(error);
  if (taskError === null) {
    const details = code === undefined ? rest : { code, ...rest };
    return envelope(name, "handler_error", message, true, details as Json);
  }
  // A TaskError is thrown on purpose: its code says more than its stack.
  const { stack: _, ...described } = rest;
  const { code: taskCode, retryable, details } = taskError;
  return envelope(name, taskCode, message, retryable, mergeDetails(details, described as Json, target));
}

/** The fields of a TaskError; null for any other error. */
function taskErrorFields(error: object): { code: string; retryable: boolean; details: unknown } | null {
  try {
    if (!WadiError.is(error) || error.code !== "TASK_ERROR") return null;
    const { taskCode, retryable, details } = error as TaskError;
    return { code: taskCode, retryable, details };
  } catch {
    return null; // one of its getters threw
  }
}

/** Adds the description of an error to the details of the handler, which take precedence; only objects are merged. */
export function mergeDetails(own: unknown, described: Json, target: JsonTarget): Json {
  const kept = handlerDetails(own, target);
  if (kept === undefined || kept === null) return described;
  return isRecord(kept) && isRecord(described) ? { ...described, ...kept } : kept;
}

/**
 * The details as JSON that this database can hold. Texts are made safe, and details that are too large or not JSON are
 * left out, so that they never prevent a failure from being stored.
 */
function handlerDetails(details: unknown, target: JsonTarget): Json | undefined {
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
