/** The lines that a worker logs, and how it logs them. */

import { cleanText } from "../core/errors/describe-error.ts";
import type { ErrorEnvelope } from "../core/task.ts";

/** Writes messages for an operator; `console` is one. */
export interface Logger {
  /** A task failed for good. One line, without its payload. */
  error(message: string): void;
  /** Tasks cannot run as they should. */
  warn(message: string): void;
}

/** Longest line that is logged, in characters. */
const MAX_LINE = 1000;

/** Writes one line. Errors of the logger are dropped. */
export function log(logger: Logger | null | undefined, level: keyof Logger, message: string): void {
  try {
    logger?.[level](`wadi: ${message}`.replace(/\s+/g, " ").slice(0, MAX_LINE));
  } catch {}
}

export function failureLine(
  task: { id: string; name: string; attempt: number; maxAttempts: number },
  { type, code, message }: ErrorEnvelope,
): string {
  const { id, name, attempt, maxAttempts } = task;
  // A retry of an ended task gives it one attempt more than its most.
  const which = attempt > maxAttempts ? `${attempt}, after a retry by hand` : `${attempt} of ${maxAttempts}`;
  return `task ${id} (${name}) failed for good on attempt ${which}: ${code}: ${type}: ${message}`;
}

export function crashLine({ id, name, attempt }: { id: string; name: string; attempt: number }): string {
  return (
    `task ${id} (${name}) failed for good on attempt ${attempt}: its lease expired, because its worker was killed, ` +
    "froze or blocked its event loop; see failures(id)"
  );
}

export function lateErrorLine({ id, name }: { id: string; name: string }, error: unknown): string {
  return `the handler of task ${id} (${name}) threw after its attempt had ended: ${cleanText(error)}`;
}

export function scheduleErrorLine(schedule: string | undefined, error: unknown): string {
  const what =
    schedule === undefined
      ? "the schedules in code were not stored, and the next worker that starts tries again"
      : `the schedule "${schedule}" was not fired, and a later drain tries again`;
  return `${what}: ${cleanText(error)}`;
}
