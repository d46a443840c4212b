/** The options of a wait, and their checks. */
import {
  type CompleteChecks,
  checkOptions,
  integerFrom,
  optional,
  withDefault,
} from "../../core/check-options.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import { optionalSignal } from "../../core/validate.ts";

/** How long a wait lasts, and how often it polls. */
export interface WaitOptions {
  /** Longest wait in milliseconds. The task itself goes on after it. Minimum `0`. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /** Ends the wait with the signal's reason; the task itself goes on. @default none */
  readonly signal?: AbortSignal | undefined;
  /** First pause between two polls in milliseconds; it grows 1.5 times each. Minimum `1`. @default 100 */
  readonly pollMs?: number | undefined;
  /**
   * Longest pause between two polls in milliseconds. While the database reports the end of tasks, a wait polls only
   * every 30 seconds; where the platform limits queries, it polls less often. Minimum `1`. @default 500
   */
  readonly maxPollMs?: number | undefined;
  /**
   * Most queries during the wait, polls of other waits of this `Wadi` included: the first half is sent at the pauses of
   * `pollMs`, the rest is spread over the time that is left. Minimum `1`.
   * @default half of the driver's `limits.maxQueries`
   */
  readonly maxQueries?: number | undefined;
}

/** Options of `call`: those of a wait, and the id of its task. */
export interface CallTaskOptions extends WaitOptions {
  /**
   * Id of the task, from the error of an earlier try of this call (`taskId` of a `DriverError`, `id` of a
   * `TaskTimeout`): if it was queued then, no second task is made. @default a new one
   */
  readonly id?: string | undefined;
}

const PAUSE_MS = integerFrom(1, MAX_TIMER_MS);
const WAIT = {
  timeoutMs: withDefault(integerFrom(0), 30_000),
  signal: (_, signal) => optionalSignal(signal),
  pollMs: withDefault(PAUSE_MS, 100),
  maxPollMs: withDefault(PAUSE_MS, 500),
  maxQueries: optional(integerFrom(1)),
} satisfies CompleteChecks<WaitOptions>;
export const WAIT_OPTIONS = Object.keys(WAIT);
const DEFAULTS: CheckedWait = /* @__PURE__ */ checkOptions("wait", {}, WAIT);

/** The options of a wait with their defaults. */
export interface CheckedWait {
  readonly timeoutMs: number;
  readonly pollMs: number;
  readonly maxPollMs: number;
  readonly maxQueries: number | null;
  readonly signal: AbortSignal | undefined;
}

/** @throws {InvalidArgument} if an option is out of range, or the signal's reason if it is aborted already. */
export function checkWait(options?: WaitOptions, what = "wait"): CheckedWait {
  if (options === undefined) return DEFAULTS;
  const wait = checkOptions(what, options, WAIT);
  wait.signal?.throwIfAborted();
  return wait;
}
