import { InvalidArgument } from "../../core/errors/errors.ts";
import type { Retention } from "../../core/operations/control.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import { integer } from "../../core/validate.ts";
import { checkRetention, type RetentionRule } from "../../producer/tasks/retention.ts";

/** Options of a worker that runs until it is stopped: how it polls, and which tasks it deletes. */
export interface LongRunningOptions {
  /**
   * First pause between two polls of an idle worker that gets no notifications of new tasks, in milliseconds. Minimum
   * `1`.
   * @default 1000
   */
  readonly pollMs?: number | undefined;
  /**
   * Longest pause between two polls, in milliseconds: it grows up to this while no task is found. So does that of a
   * short drain while handlers run. At least `pollMs`.
   * @default 5000, or `pollMs` if that is more
   */
  readonly maxPollMs?: number | undefined;
  /**
   * Which finished tasks are deleted: in batches while the worker runs, and at most once a minute at the end of a
   * short drain that has time left. At most 16 rules.
   * @default none: finished tasks are kept
   */
  readonly retention?: readonly RetentionRule[] | undefined;
  /** Pause between two sweeps of a running worker in milliseconds. Minimum `1000`. @default 60000 */
  readonly sweepMs?: number | undefined;
}

export const LONG_RUNNING_OPTIONS = Object.keys({
  pollMs: true,
  maxPollMs: true,
  retention: true,
  sweepMs: true,
} satisfies Record<keyof LongRunningOptions, true>);

/** Checked `LongRunningOptions`. */
export interface LongRunningSettings {
  readonly pollMs: number;
  readonly maxPollMs: number;
  readonly retention: Retention;
  readonly sweepMs: number;
}

/** @throws {InvalidArgument} naming the option that is out of range. */
export function checkLongRunning(options: LongRunningOptions): LongRunningSettings {
  const pollMs = integer("pollMs", options.pollMs ?? 1000, 1, MAX_TIMER_MS);
  const maxPollMs = integer("maxPollMs", options.maxPollMs ?? Math.max(5000, pollMs), 1, MAX_TIMER_MS);
  if (maxPollMs < pollMs) {
    throw new InvalidArgument(`maxPollMs must be at least pollMs, got ${maxPollMs} below ${pollMs}`);
  }
  return {
    pollMs,
    maxPollMs,
    retention: options.retention === undefined ? [] : checkRetention(options.retention),
    sweepMs: integer("sweepMs", options.sweepMs ?? 60_000, 1000, MAX_TIMER_MS),
  };
}
