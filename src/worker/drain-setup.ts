/** How the two kinds of drain are set up: a short one for `worker.drain`, and a continuous one for `worker.run`. */

import {
  type CompleteChecks,
  checkOptions,
  integerFrom,
  optional,
  unchecked,
} from "../core/check-options.ts";
import { InvalidArgument } from "../core/errors/errors.ts";
import type { Executor } from "../core/executor.ts";
import { NEVER, NO_LIMIT } from "../core/infinity.ts";
import { monotonicMs, toMonotonicMs } from "../core/monotonic-clock.ts";
import { MAX_TIMER_MS } from "../core/timers.ts";
import { instant, integer, optionalSignal } from "../core/validate.ts";
import type { ContinuousMode, DrainSettings } from "./drain/drain-settings.ts";
import type { Registration } from "./handler/registration.ts";
import type { Registrations } from "./handler/registrations.ts";
import type { WorkerSettings } from "./options.ts";

/** Options of `worker.drain`. */
export interface DrainOptions {
  /** Time of the invocation in milliseconds. Minimum `1`. @default 25000 */
  readonly budgetMs?: number | undefined;
  /**
   * When the invocation must be over, as a Date or epoch milliseconds; not together with `budgetMs`.
   * @default `budgetMs` from now
   */
  readonly deadline?: Date | number | undefined;
  /** Stops the drain as its deadline would. @default none */
  readonly signal?: AbortSignal | undefined;
  /** Most tasks to claim. Minimum `1`. @default no limit */
  readonly maxTasks?: number | undefined;
  /**
   * Most statements that the drain and the contexts of its handlers send, for platforms that count them. The drain
   * stops claiming while it can still settle all tasks it holds; then `more` is true. Minimum `10`.
   * @default the limit of the driver: 40 on D1, of the 50 of Cloudflare's free plan, else no limit
   */
  readonly maxQueries?: number | undefined;
  /**
   * Longest wait, in milliseconds, for a retry of a task that failed in this drain, once no other task is left. It
   * never waits for tasks that are delayed for another reason. Minimum `0`: retries are left to the next drain.
   * @default 2000
   */
  readonly lingerMs?: number | undefined;
}

/** The settings in which the drains of one worker differ. */
export type DrainSetup = Omit<DrainSettings, keyof WorkerSettings | "wadi" | "hints" | "unreturned"> &
  Pick<DrainSettings, "leaseMs">;

const DEFAULT_BUDGET_MS = 25_000;
const DEFAULT_LINGER_MS = 2000;
const DRAIN = {
  budgetMs: unchecked, // with deadline, by deadlineOf
  deadline: unchecked,
  signal: (_, signal) => optionalSignal(signal),
  maxTasks: optional(integerFrom(1)),
  maxQueries: optional(integerFrom(10)),
  lingerMs: integerFrom(0, MAX_TIMER_MS, DEFAULT_LINGER_MS),
} satisfies CompleteChecks<DrainOptions>;
/** A lease outlasts its invocation by this, so that the last settlement still comes under it. */
const LEASE_MARGIN_MS = 5_000;
/** Time kept at the end to settle the tasks that were stopped. */
const RESERVE_MS = 1000;

/** @throws {InvalidArgument} if an option is out of range, or no handler is registered or fits the time. */
export function shortDrain(
  options: DrainOptions,
  handlers: Registrations,
  { leaseMs }: WorkerSettings,
  executor: Executor,
): DrainSetup {
  const { signal, maxTasks, maxQueries, lingerMs } = checkOptions("drain", options, DRAIN);
  const all = handlers.required("drain");
  const nowMs = monotonicMs();
  const deadlineMs = deadlineOf(options, nowMs);
  const budgetMs = Math.max(0, deadlineMs - nowMs);
  const reserveMs = Math.min(RESERVE_MS, budgetMs / 10);
  const fits = ({ maxRunMs }: Registration) => maxRunMs === null || maxRunMs <= budgetMs - reserveMs;
  const registrations = all.filter(fits);
  if (registrations.length === 0) {
    throw new InvalidArgument(
      `no handler's maxRunMs fits a drain of ${budgetMs} ms; raise budgetMs or lower maxRunMs`,
    );
  }
  return {
    registrations,
    skipped: all.filter((handler) => !fits(handler)).map(({ name }) => name),
    leaseMs: Math.min(leaseMs, budgetMs + LEASE_MARGIN_MS),
    deadlineMs,
    reserveMs,
    maxTasks: maxTasks ?? NO_LIMIT,
    maxQueries: maxQueries ?? executor.limits.maxQueries ?? NO_LIMIT,
    signal,
    lingerMs,
    continuous: null,
  };
}

/** Sets up a drain that goes on until `continuous` is stopped. Null: it is never run, and only shows its status. */
export function continuousDrain(
  continuous: ContinuousMode | null,
  handlers: Registrations,
  { leaseMs }: WorkerSettings,
): DrainSetup {
  return {
    registrations: handlers.all,
    skipped: [],
    leaseMs,
    deadlineMs: NEVER,
    reserveMs: RESERVE_MS,
    maxTasks: NO_LIMIT,
    maxQueries: NO_LIMIT,
    signal: continuous?.signal,
    lingerMs: 0,
    continuous,
  };
}

/** When a short drain must be over, on the monotonic clock, on which it is `nowMs` now. */
function deadlineOf({ budgetMs, deadline }: DrainOptions, nowMs: number): number {
  if (deadline === undefined)
    return nowMs + integer("budgetMs", budgetMs ?? DEFAULT_BUDGET_MS, 1, MAX_TIMER_MS);
  if (budgetMs !== undefined) throw new InvalidArgument("pass either budgetMs or deadline, not both");
  return toMonotonicMs(instant("deadline", deadline));
}
