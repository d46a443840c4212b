/** Turns the arguments of `ctx.fail(reason, options)` into an error envelope and a delay. */

import {
  type CompleteChecks,
  checkOptions,
  integerFrom,
  optional,
  unchecked,
} from "../../core/check-options.ts";
import { isError, isErrorLike } from "../../core/errors/describe-error.ts";
import { envelope, envelopeOf, mergeDetails } from "../../core/errors/error-envelope.ts";
import { InvalidArgument } from "../../core/errors/errors.ts";
import type { JsonTarget } from "../../core/json/json.ts";
import type { ErrorEnvelope } from "../../core/task.ts";
import { MAX_DELAY_MS, optionalFlag, text } from "../../core/validate.ts";

/** Options of `ctx.fail`. Each overrides the same field of the reason. */
export interface FailOptions {
  /** Whether the task may be tried again. @default that of the reason, else true */
  readonly retryable?: boolean | undefined;
  /**
   * Recorded in the error envelope.
   * @default that of the reason, else "task_error" for a message, "handler_error" for an Error
   */
  readonly code?: string | undefined;
  /** Any JSON value, recorded in the error envelope. @default none */
  readonly details?: unknown;
  /** Shortest wait before the next attempt, in milliseconds. Minimum `0`. @default the worker's backoff */
  readonly delayMs?: number | undefined;
}

/** An error envelope as a reason of `ctx.fail`, such as the stored error of another task. */
export interface FailEnvelope extends Partial<Omit<ErrorEnvelope, "message" | "details">> {
  /** Describes the failure, for people. */
  readonly message: string;
  /** Any JSON value that says more. */
  readonly details?: unknown;
}

const FAIL = {
  retryable: optionalFlag,
  code: optional(text),
  details: unchecked, // merged with those of the reason
  delayMs: optional(integerFrom(0, MAX_DELAY_MS)),
} satisfies CompleteChecks<FailOptions>;

const ENVELOPE = {
  type: optional(text),
  code: optional(text),
  message: unchecked,
  retryable: optionalFlag,
  details: unchecked,
} satisfies CompleteChecks<FailEnvelope>;

/**
 * The envelope and the delay of `ctx.fail(reason, options)`; null if the options have no delay.
 *
 * @throws {InvalidArgument} if the reason is none of the known forms, or an option or a field is unknown.
 */
export function failureOf(
  reason: unknown,
  options: FailOptions | undefined,
  target: JsonTarget,
): { error: ErrorEnvelope; delayMs: number | null } {
  const { retryable, code, details, delayMs } = checkOptions("fail", options, FAIL);
  const error = reasonOf(reason, target);
  const given = {
    ...error,
    retryable: retryable ?? error.retryable,
    code: code ?? error.code,
    details: details === undefined ? error.details : mergeDetails(details, error.details, target),
  };
  return { error: given, delayMs };
}

function reasonOf(reason: unknown, target: JsonTarget): ErrorEnvelope {
  if (typeof reason === "string") return envelope("TaskError", "task_error", reason, true);
  if (isError(reason)) return envelopeOf(reason, target);
  if (isErrorLike(reason)) return envelopeFrom(reason as FailEnvelope, target);
  throw new InvalidArgument(
    "fail expects a message, an Error or an envelope { type, code, message, retryable, details }, " +
      `got ${reason === null ? "null" : typeof reason}`,
  );
}

function envelopeFrom(given: FailEnvelope, target: JsonTarget): ErrorEnvelope {
  const { type, code, retryable } = checkOptions("the envelope of fail", given, ENVELOPE);
  const details = mergeDetails(given.details, {}, target);
  return envelope(type ?? "TaskError", code ?? "task_error", given.message, retryable ?? true, details);
}
