/** Limits on how many tasks of one key run or start, over all workers. */
import { type CompleteChecks, checkOptions, integerFrom, optional } from "../core/check-options.ts";
import { InvalidArgument } from "../core/errors/errors.ts";
import { MAX_LIMITS_KEY_BYTES } from "../core/index-limits.ts";
import type { LimitRow } from "../core/operations/submit.ts";
import { MAX_TIMER_MS } from "../core/timers.ts";
import { text } from "../core/validate.ts";

/** At most `count` starts in any `perMs` milliseconds. */
export interface RateLimit {
  /** Most starts in a window. Minimum `1`. */
  readonly count: number;
  /** Length of the window in milliseconds. Minimum `1`. */
  readonly perMs: number;
}

/**
 * What all workers together may do with the tasks of one key, whatever their names and queues. At least one of
 * `concurrency` and `rate`. The latest submit that names the key decides for all its tasks.
 */
export interface FleetLimits {
  /** Whom the limit is for, such as a tenant or an API. At most 2,000 bytes. */
  readonly key: string;
  /** Most tasks that run at a time. Minimum `1`. @default no limit */
  readonly concurrency?: number | undefined;
  /** Most starts in a window of time; each attempt is a start. @default no limit */
  readonly rate?: RateLimit | undefined;
}

/** The limits of a definition, whose key may depend on the payload. */
export interface TaskLimits<Payload = unknown> extends Omit<FleetLimits, "key"> {
  /** Whom the limit is for, or a function that says so for a payload. At most 2,000 bytes. */
  readonly key: string | ((payload: Payload) => string);
}

const RATE = {
  count: integerFrom(1, 1_000_000),
  perMs: integerFrom(1, MAX_TIMER_MS),
} satisfies CompleteChecks<RateLimit>;
const LIMITS = {
  key: (option: string, key: unknown) => typeof key === "function" || text(option, key, MAX_LIMITS_KEY_BYTES),
  concurrency: optional(integerFrom(1, 1_000_000)),
  rate: optional((option, rate) => checkOptions(option, rate as RateLimit, RATE, `${option}.`)),
} satisfies CompleteChecks<FleetLimits>;

/** @throws {InvalidArgument} naming the option that is out of range. */
export function checkLimits<Limits extends TaskLimits<never>>(limits: Limits): Limits {
  const { concurrency, rate } = checkOptions("limits", limits, LIMITS, "limits.");
  if (concurrency === null && rate === null) throw new InvalidArgument("limits needs concurrency or rate");
  return limits;
}

/** The limits that a task with this payload sets for its key. */
export function limitRow(name: string, limits: TaskLimits<never> | null, payload: unknown): LimitRow | null {
  if (limits === null) return null;
  const { concurrency, rate } = checkLimits(limits);
  let { key } = limits;
  if (typeof key === "function") {
    try {
      key = key(payload as never);
    } catch (cause) {
      throw new InvalidArgument(`the limits.key of "${name}" threw on this payload`, { cause });
    }
  }
  return {
    key: text("limits.key", key, MAX_LIMITS_KEY_BYTES),
    concurrency: concurrency ?? null,
    rate_count: rate?.count ?? null,
    rate_per_ms: rate?.perMs ?? null,
  };
}
