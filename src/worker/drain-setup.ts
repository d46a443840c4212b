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
import { monotonicMs } from "../core/monotonic-clock.ts";
import { MAX_HOPS } from "../core/operations/wake.ts";
import { MAX_TIMER_MS } from "../core/timers.ts";
import { optionalFlag, optionalSignal } from "../core/validate.ts";
import type { ContinuousMode, DrainSettings } from "./drain/drain-settings.ts";
import { DrainTime } from "./drain/drain-time.ts";
import type { SettleMargin } from "./drain/settle-margin.ts";
import type { Registration } from "./handler/registration.ts";
import type { Registrations } from "./handler/registrations.ts";
import { type CloudflareTrigger, invocationDeadlineMs } from "./invocation-deadline.ts";
import type { WorkerSettings } from "./options.ts";

/** Options of `worker.drain`. */
export interface DrainOptions {
  /**
   * Time of the invocation in milliseconds. On Vercel, where the platform reports the deadline of the invocation, the
   * drain ends before that in any case. Minimum `1`.
   * @default until the deadline on Vercel, elsewhere 25000
   */
  readonly budgetMs?: number | undefined;
  /**
   * When the invocation must be over, as a Date or epoch milliseconds; instead of `budgetMs`.
   * @default `budgetMs` from now
   */
  readonly deadline?: Date | number | undefined;
  /**
   * The event of Cloudflare Workers that started the invocation, instead of `budgetMs`: 25 seconds for `fetch`, 14
   * minutes for `scheduled`, `queue` and `alarm`, which Cloudflare stops after 30 seconds and after 15 minutes.
   * @default none
   */
  readonly trigger?: CloudflareTrigger | undefined;
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
  /** The `hop` of the kick that started the drain, which its own kick counts on from. From 0 to 10. @default 0 */
  readonly hop?: number | undefined;
  /**
   * How long the drain waits for new tasks after its last one, in milliseconds: a burst of submits is one drain then.
   * Submits of this process end the wait, those of others wait for its end. It needs a `Wadi` with `wake`, whose
   * submits do not kick meanwhile. From 0 to 1000. @default 0
   */
  readonly stayMs?: number | undefined;
  /**
   * Whether the drain ends without a round trip if the `hint` of the `Wadi` says that no task is due.
   * @default true, but false with a `hop` and for the triggers `queue` and `alarm`: those say that one is
   */
  readonly useHint?: boolean | undefined;
}

/** The settings in which the drains of one worker differ. */
export type DrainSetup = Omit<DrainSettings, keyof WorkerSettings | "wadi" | "hints" | "unreturned"> &
  Pick<DrainSettings, "leaseMs">;

const DEFAULT_LINGER_MS = 2000;
const DRAIN = {
  budgetMs: unchecked, // these three by invocationDeadlineMs
  deadline: unchecked,
  trigger: unchecked,
  signal: (_, signal) => optionalSignal(signal),
  maxTasks: optional(integerFrom(1)),
  maxQueries: optional(integerFrom(10)),
  lingerMs: integerFrom(0, MAX_TIMER_MS, DEFAULT_LINGER_MS),
  hop: integerFrom(0, MAX_HOPS, 0),
  stayMs: integerFrom(0, 1000, 0),
  useHint: optionalFlag,
} satisfies CompleteChecks<DrainOptions>;
/** A lease outlasts its invocation by this, so that the last settlement still comes under it. */
const LEASE_MARGIN_MS = 5_000;

/** @throws {InvalidArgument} if an option is out of range, or no handler is registered or fits the time. */
export function shortDrain(
  options: DrainOptions,
  handlers: Registrations,
  { leaseMs }: WorkerSettings,
  executor: Executor,
  margin: SettleMargin,
): DrainSetup {
  const { signal, maxTasks, maxQueries, lingerMs, hop, stayMs } = checkOptions("drain", options, DRAIN);
  const all = handlers.required("drain");
  const deadlineMs = invocationDeadlineMs(options);
  const nowMs = monotonicMs();
  const budgetMs = Math.max(0, deadlineMs - nowMs);
  const time = new DrainTime(nowMs, deadlineMs, margin);
  const fits = ({ maxRunMs }: Registration) => maxRunMs === null || maxRunMs <= time.leftMs(nowMs);
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
    time,
    maxTasks: maxTasks ?? NO_LIMIT,
    maxQueries: maxQueries ?? executor.limits.maxQueries ?? NO_LIMIT,
    signal,
    lingerMs,
    hop,
    stayMs,
    continuous: null,
  };
}

/** Whether a hint may end the drain before its first round trip: not if what started it says that a task is due. */
export function usesHint({ useHint, hop, trigger }: DrainOptions): boolean {
  return useHint ?? (hop === undefined && trigger !== "queue" && trigger !== "alarm");
}

/** Sets up a drain that goes on until `continuous` is stopped. Null: it is never run, and only shows its status. */
export function continuousDrain(
  continuous: ContinuousMode | null,
  handlers: Registrations,
  { leaseMs }: WorkerSettings,
  margin: SettleMargin,
): DrainSetup {
  return {
    registrations: handlers.all,
    skipped: [],
    leaseMs,
    deadlineMs: NEVER,
    time: new DrainTime(monotonicMs(), NEVER, margin),
    maxTasks: NO_LIMIT,
    maxQueries: NO_LIMIT,
    signal: continuous?.signal,
    lingerMs: 0,
    hop: 0,
    stayMs: 0,
    continuous,
  };
}
