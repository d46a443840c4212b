import { type CompleteChecks, integerFrom, unchecked } from "../../core/check-options.ts";
import { InvalidArgument } from "../../core/errors/errors.ts";
import type { Retention } from "../../core/operations/control.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import { integer } from "../../core/validate.ts";
import { checkRetention, type RetentionRule } from "../../producer/tasks/retention-rules.ts";

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

/** Their checks. */
export const LONG_RUNNING = {
  pollMs: integerFrom(1, MAX_TIMER_MS, 1000),
  maxPollMs: unchecked, // its default depends on pollMs
  retention: (_: string, rules: unknown): Retention =>
    rules === undefined ? [] : checkRetention(rules as readonly RetentionRule[]),
  sweepMs: integerFrom(1000, MAX_TIMER_MS, 60_000),
} satisfies CompleteChecks<LongRunningOptions>;

/** Checked `LongRunningOptions`. */
export interface LongRunningSettings {
  readonly pollMs: number;
  readonly maxPollMs: number;
  readonly retention: Retention;
  readonly sweepMs: number;
}

/** The longest pause; 5 seconds by default, or `pollMs` if that is longer. @throws {InvalidArgument} */
export function maxPollMsOf({ maxPollMs: given }: LongRunningOptions, pollMs: number): number {
  const maxPollMs = integer("maxPollMs", given ?? Math.max(5000, pollMs), 1, MAX_TIMER_MS);
  if (maxPollMs >= pollMs) return maxPollMs;
  throw new InvalidArgument(`maxPollMs must be at least pollMs, got ${maxPollMs} below ${pollMs}`);
}
