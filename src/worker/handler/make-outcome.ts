/** The outcomes of an attempt: from a returned value, a thrown error or a timeout. */

import { type Backoff, backoffDelay } from "../../core/backoff.ts";
import { envelope, envelopeOf } from "../../core/errors/error-envelope.ts";
import { type TaskError, WadiError } from "../../core/errors/errors.ts";
import { encodeJson, type JsonTarget } from "../../core/json/json.ts";
import type { Outcome } from "../../core/operations/settle.ts";
import type { ErrorEnvelope, Task } from "../../core/task.ts";
import { MAX_DELAY_MS } from "../../core/validate.ts";

/** Returns the task to its queue without spending the attempt. */
export const RELEASED: Outcome = { outcome: "release", delayMs: 0 };

/** Queues the task again after a delay, without spending the attempt. */
export function snoozed(delayMs: number): Outcome {
  return { outcome: "release", delayMs };
}

/** The outcome of an attempt whose handler returned `result`, or the error that reading `result` threw. */
export function completed(
  { name }: Task,
  result: unknown,
  target: JsonTarget,
): Outcome | { thrown: unknown } {
  try {
    const value = result === undefined ? null : result;
    return { outcome: "complete", resultJson: encodeJson(value, `the result of ${name}`, target) };
  } catch (error) {
    if (!WadiError.is(error)) return { thrown: error }; // a getter of the result threw
    return { outcome: "fail", error: envelope(error.name, "unserializable_result", error.message, false) };
  }
}

/** The outcome of an attempt whose handler threw. */
export function failed(task: Task, thrown: unknown, backoff: Backoff, target: JsonTarget): Outcome {
  return failedAs(task, envelopeOf(thrown, target), delayOf(thrown), backoff);
}

/**
 * The outcome of an attempt that failed with `error`. `delayMs`: shortest wait before the next attempt; null: the
 * backoff.
 */
export function failedAs(
  { attempt }: Task,
  error: ErrorEnvelope,
  delayMs: number | null,
  backoff: Backoff,
): Outcome {
  if (!error.retryable) return { outcome: "fail", error };
  return { outcome: "retry", error, delayMs: delayMs ?? backoffDelay(backoff, attempt) };
}

/**
 * The delay that a TaskError asks for, else null. The thrown value can be anything: the field may be missing, have
 * another type, or throw when it is read.
 */
export function delayOf(thrown: unknown): number | null {
  try {
    const askedMs = Math.min(Math.max(0, Math.round((thrown as TaskError).delayMs!)), MAX_DELAY_MS);
    return askedMs >= 0 ? askedMs : null;
  } catch {
    return null;
  }
}

/** The outcome of an attempt that ran out of time. */
export function timedOut(task: Task, message: string, backoff: Backoff): Outcome {
  return failedAs(task, envelope("HandlerTimeout", "handler_timeout", message, true), null, backoff);
}
