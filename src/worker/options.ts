import type { Backoff } from "../core/backoff.ts";
import { toMonotonicMs } from "../core/clock.ts";
import { InvalidArgument } from "../core/errors/errors.ts";
import type { Executor } from "../core/executor.ts";
import { MAX_WORKER_NAME_BYTES } from "../core/index-limits.ts";
import { MAX_TIMER_MS } from "../core/timers.ts";
import { ulid } from "../core/ulid.ts";
import { instant, integer, MAX_DELAY_MS, onlyKnown, show, text } from "../core/validate.ts";
import type { ByteLimits } from "./drain/byte-budget.ts";
import type { PoolSizes } from "./drain/make-slot-pools.ts";
import { type HandlerDefaults, optionalMs, queuesOf } from "./handler/registration.ts";
import { type WorkerHooks, warnOnError } from "./hooks.ts";
import {
  checkLongRunning,
  type LongRunningOptions,
  type LongRunningSettings,
  STAYING_OPTIONS,
} from "./run/run-options.ts";

export interface Prefetch {
  /** Most tasks that are claimed and wait for a slot. From 0 to 100000. */
  readonly tasks: number;
  /** Most bytes their payloads have as JSON. Minimum `1`. @default no limit */
  readonly bytes?: number | undefined;
}

export interface WorkerOptions extends WorkerHooks, LongRunningOptions {
  /** Queue of names that are registered as plain strings. @default "default" */
  readonly queue?: string | undefined;
  /** Several queues instead of one; not together with `queue`. @default none */
  readonly queues?: readonly string[] | undefined;
  /**
   * Handler calls that run at once, over all names that have no `concurrency`, `batch` or `resource` of their own.
   * Minimum `1`. @default 10
   */
  readonly concurrency?: number | undefined;
  /** What names may share, by how many calls it takes at once: `{ gpu: 2 }`. Each from 1 to 10000. @default none */
  readonly resources?: { readonly [resource: string]: number } | undefined;
  /**
   * Claims ahead of the free slots, so that a slot is filled at once and round trips are few. What has not started when
   * the worker stops is released without spending an attempt. From 0 to 100000. @default 0
   */
  readonly prefetch?: number | Prefetch | undefined;
  /**
   * Most bytes of payload, as JSON, that are claimed and not finished. A single larger task runs by itself.
   * Minimum `1`. @default no limit
   */
  readonly maxInFlightBytes?: number | undefined;
  /**
   * Longest lease in milliseconds; how soon the tasks of a killed invocation come back. A drain that ends
   * sooner leases for its own length and sends no heartbeat. Minimum `100`. @default 60000
   */
  readonly leaseMs?: number | undefined;
  /**
   * How often the worker asks the database, in one statement for all tasks it holds, whether one that runs was canceled, in
   * milliseconds. Nothing is asked while no handler runs. A cancel through the same `Wadi` is heard at once. Minimum `100`.
   * @default 5000
   */
  readonly cancelPollMs?: number | undefined;
  /** Longest run of one attempt in milliseconds, for names that have no `maxRunMs` of their own. Minimum `1`. @default none */
  readonly maxRunMs?: number | undefined;
  /** Wait between attempts, in milliseconds: a random time from the upper half of `baseMs`, doubled with each attempt up to `capMs`. @default { baseMs: 1000, capMs: 30000 } */
  readonly backoff?: Partial<Backoff> | undefined;
  /**
   * Prefix of the lease tokens, for people who read the table. At most 500 bytes. Of two workers of one
   * process that run the same tasks and have the same name the new one replaces the old. @default a random one
   */
  readonly name?: string | undefined;
}

export interface DrainOptions {
  /** Time of the invocation in milliseconds. Minimum `1`. @default 25000 */
  readonly budgetMs?: number | undefined;
  /** When the invocation must be over, as a Date or epoch milliseconds; not together with `budgetMs`. @default `budgetMs` from now */
  readonly deadline?: Date | number | undefined;
  /** Stops the drain as its deadline would. @default none */
  readonly signal?: AbortSignal | undefined;
  /** Most tasks to claim. Minimum `1`. @default no limit */
  readonly maxTasks?: number | undefined;
  /**
   * Most statements this drain sends, for platforms that count them: its own, and those of its handlers' contexts. It stops
   * claiming while it can still settle all that it holds; then `more` is true. Minimum `10`.
   * @default what the driver says: 40 on D1, of the 50 of Cloudflare's free plan, else no limit
   */
  readonly maxQueries?: number | undefined;
  /**
   * Longest wait, in milliseconds, for a retry of a task that failed in this drain, once nothing else is left. A task that
   * is delayed for another reason is never waited for. Minimum `0`: retries are left to the next drain. @default 2000
   */
  readonly lingerMs?: number | undefined;
}

/** Checked options of a worker. */
export interface Settings extends PoolSizes, ByteLimits, HandlerDefaults, LongRunningSettings {
  readonly leaseMs: number;
  readonly cancelPollMs: number;
  readonly backoff: Backoff;
  readonly name: string;
  /** The name that the application gave; null if it gave none. */
  readonly givenName: string | null;
  readonly hooks: WorkerHooks;
}

const OPTIONS = [
  ...[
    "queue",
    "queues",
    "concurrency",
    "resources",
    "prefetch",
    "maxInFlightBytes",
    "leaseMs",
    "cancelPollMs",
    "maxRunMs",
  ],
  ...["backoff", "name", "around", "onEvent", "onError", "logger"],
  ...STAYING_OPTIONS,
];
const DEFAULT_BUDGET_MS = 25_000;
const MAX_PREFETCH = 100_000;

/** @throws {InvalidArgument} naming the option that is out of range. */
export function checkWorker(options: WorkerOptions): Settings {
  onlyKnown("new Worker", options, OPTIONS);
  onlyKnown("backoff", options.backoff, ["baseMs", "capMs"]);
  const { around, onEvent, onError, maxInFlightBytes } = options;
  for (const [name, hook] of Object.entries({ around, onEvent, onError })) {
    if (hook !== undefined && typeof hook !== "function")
      throw new InvalidArgument(`${name} must be a function, got ${show(hook)}`);
  }
  const { logger = console } = options;
  if (logger !== null && (typeof logger?.error !== "function" || typeof logger.warn !== "function")) {
    throw new InvalidArgument("logger must be an object with error and warn, or null to log nothing");
  }
  return {
    queues: queuesOf(options) ?? ["default"],
    concurrency: integer("concurrency", options.concurrency ?? 10, 1, 10_000),
    resources: checkResources(options.resources),
    ...checkPrefetch(options.prefetch),
    maxInFlightBytes:
      maxInFlightBytes === undefined ? null : integer("maxInFlightBytes", maxInFlightBytes, 1),
    leaseMs: integer("leaseMs", options.leaseMs ?? 60_000, 100, MAX_TIMER_MS),
    cancelPollMs: integer("cancelPollMs", options.cancelPollMs ?? 5000, 100, MAX_TIMER_MS),
    maxRunMs: optionalMs("maxRunMs", options.maxRunMs),
    backoff: {
      baseMs: integer("backoff.baseMs", options.backoff?.baseMs ?? 1000, 0, MAX_DELAY_MS),
      capMs: integer("backoff.capMs", options.backoff?.capMs ?? 30_000, 0, MAX_DELAY_MS),
    },
    givenName: options.name ?? null,
    name: text("name", options.name ?? `wadi-${ulid().slice(-8).toLowerCase()}`, MAX_WORKER_NAME_BYTES),
    hooks: { around, onEvent, onError: onError ?? warnOnError(logger), logger },
    ...checkLongRunning(options),
  };
}

function checkResources(resources: WorkerOptions["resources"]): ReadonlyMap<string, number> {
  if (resources === undefined) return new Map();
  onlyKnown("resources", resources, Object.keys(resources ?? {}));
  return new Map(
    Object.entries(resources).map(([name, calls]) => [
      text("the name of a resource", name),
      integer(`resources.${name}`, calls, 1, 10_000),
    ]),
  );
}

function checkPrefetch(
  value: number | Prefetch = 0,
): Pick<PoolSizes, "prefetch"> & Pick<ByteLimits, "prefetchBytes"> {
  if (typeof value === "number") {
    return { prefetch: integer("prefetch", value, 0, MAX_PREFETCH), prefetchBytes: null };
  }
  if (typeof value !== "object" || value === null) {
    throw new InvalidArgument(`prefetch must be a number of tasks or { tasks, bytes }, got ${show(value)}`);
  }
  onlyKnown("prefetch", value, ["tasks", "bytes"]);
  const { tasks, bytes } = value;
  return {
    prefetch: integer("prefetch.tasks", tasks, 0, MAX_PREFETCH),
    prefetchBytes: bytes === undefined ? null : integer("prefetch.bytes", bytes, 1),
  };
}

/** When a drain must be over, on the monotonic clock, on which it is `nowMs`. */
export function deadlineOf(options: DrainOptions, nowMs: number): number {
  if (options.deadline === undefined)
    return nowMs + integer("budgetMs", options.budgetMs ?? DEFAULT_BUDGET_MS, 1, MAX_TIMER_MS);
  if (options.budgetMs !== undefined) throw new InvalidArgument("pass either budgetMs or deadline, not both");
  return toMonotonicMs(instant("deadline", options.deadline));
}

/** How many statements a drain may send. */
export function maxQueriesOf({ maxQueries }: DrainOptions, { limits }: Executor): number {
  if (maxQueries !== undefined) return integer("maxQueries", maxQueries, 10);
  return limits.maxQueries ?? Number.POSITIVE_INFINITY;
}
