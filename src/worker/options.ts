/** The options of a worker, and how they are checked. */

import type { Backoff } from "../core/backoff.ts";
import {
  type CompleteChecks,
  checkOptions,
  integerFrom,
  optional,
  optionalFunction,
  optionalMs,
  unchecked,
} from "../core/check-options.ts";
import { InvalidArgument } from "../core/errors/errors.ts";
import { MAX_WORKER_NAME_BYTES } from "../core/index-limits.ts";
import { MAX_TIMER_MS } from "../core/timers.ts";
import { ulid } from "../core/ulid.ts";
import { integer, MAX_DELAY_MS, requireRecord, show, text } from "../core/validate.ts";
import { checkSchedule } from "../producer/schedules/check-schedule.ts";
import { checkScheduleName, DEFAULT_GROUP } from "../producer/schedules/schedule-name.ts";
import type { Schedule } from "../producer/schedules/schedule-options.ts";
import type { ByteLimits } from "./drain/byte-budget.ts";
import { CodeSchedules } from "./drain/code-schedules.ts";
import type { PoolSizes } from "./drain/make-slot-pools.ts";
import { type HandlerDefaults, queuesOf } from "./handler/registration.ts";
import { type WorkerHooks, warnOnError } from "./hooks.ts";
import type { Logger } from "./logger.ts";
import {
  LONG_RUNNING,
  type LongRunningOptions,
  type LongRunningSettings,
  maxPollMsOf,
} from "./run/long-running-options.ts";

/** How much a worker claims ahead of its free slots. */
export interface Prefetch {
  /** Most claimed tasks that wait for a slot. From 0 to 100000. */
  readonly tasks: number;
  /** Most bytes of their payloads, as JSON. Minimum `1`. @default no limit */
  readonly bytes?: number | undefined;
}

/** Options of `new Worker`. */
export interface WorkerOptions extends WorkerHooks, LongRunningOptions {
  /** Queue of names that are registered as plain strings. @default "default" */
  readonly queue?: string | undefined;
  /** Several queues instead of one; not together with `queue`. @default none */
  readonly queues?: readonly string[] | undefined;
  /**
   * Most handler calls at once, over all names that are registered without `concurrency`, `batch` and `resource`.
   * Minimum `1`.
   * @default 10
   */
  readonly concurrency?: number | undefined;
  /**
   * Resources that names can share, with the most handler calls that use each at once: `{ gpu: 2 }`. Each from 1 to
   * 10000.
   * @default none
   */
  readonly resources?: { readonly [resource: string]: number } | undefined;
  /**
   * Tasks to claim ahead of the free slots, so that a free slot is filled at once and round trips are few. Tasks that
   * have not started when the worker stops are released without spending an attempt. From 0 to 100000.
   * @default 0
   */
  readonly prefetch?: number | Prefetch | undefined;
  /**
   * Most bytes of the payloads, as JSON, of tasks that are claimed and not finished. A single larger task runs alone.
   * Minimum `1`.
   * @default no limit
   */
  readonly maxInFlightBytes?: number | undefined;
  /**
   * Longest lease in milliseconds: after it the tasks of a killed invocation run again. A drain that ends sooner
   * leases for its own length and sends no heartbeat. Minimum `100`.
   * @default 60000
   */
  readonly leaseMs?: number | undefined;
  /**
   * How often the worker asks the database whether running tasks were canceled, in milliseconds. It is one statement
   * for all tasks, and none while no handler runs. A cancel by the same `Wadi` needs no poll. Minimum `100`.
   * @default 5000
   */
  readonly cancelPollMs?: number | undefined;
  /** Longest run of one attempt in milliseconds, for names that have no `maxRunMs`. Minimum `1`. @default none */
  readonly maxRunMs?: number | undefined;
  /**
   * Wait before the next attempt, in milliseconds: a random time from the upper half of `baseMs`, which doubles with
   * each attempt up to `capMs`.
   * @default { baseMs: 1000, capMs: 30000 }
   */
  readonly backoff?: Partial<Backoff> | undefined;
  /**
   * Prefix of the lease tokens, for people who read the table. At most 500 bytes. A worker stops another one of the
   * same name that runs the same tasks in this process, and replaces it.
   * @default a random one
   */
  readonly name?: string | undefined;
  /**
   * What to queue when. The first claim of the worker finds out whether the database has these definitions, and stores
   * them if not: schedules of the group that are not listed any more are deleted. An empty list deletes all of them.
   * @default none: the worker fires what is stored, and changes nothing
   */
  readonly schedules?: readonly Schedule[] | undefined;
  /**
   * The group of `schedules`: services that share a database each have one, and leave those of the others alone. At
   * most 400 characters. @default "default"
   */
  readonly scheduleGroup?: string | undefined;
  /**
   * Grows with each change of `schedules`: a worker never replaces definitions of a higher revision, such as one of an
   * old deployment that is still running. Of equal revisions the worker that started last decides. Minimum `0`.
   * @default 0
   */
  readonly scheduleRevision?: number | undefined;
}

/** Checked options of a worker. */
export interface WorkerSettings extends PoolSizes, ByteLimits, HandlerDefaults, LongRunningSettings {
  readonly leaseMs: number;
  readonly cancelPollMs: number;
  readonly backoff: Backoff;
  readonly name: string;
  readonly schedules: CodeSchedules | null;
  /** The name that the application gave the worker; null if it gave none. */
  readonly givenName: string | null;
  readonly hooks: WorkerHooks;
}

const MAX_PREFETCH = 100_000;
const BACKOFF = {
  baseMs: integerFrom(0, MAX_DELAY_MS, 1000),
  capMs: integerFrom(0, MAX_DELAY_MS, 30_000),
} satisfies CompleteChecks<Backoff>;
const PREFETCH = {
  tasks: integerFrom(0, MAX_PREFETCH),
  bytes: optional(integerFrom(1)),
} satisfies CompleteChecks<Prefetch>;
const OPTIONS = {
  queue: unchecked, // with queues, by queuesOf
  queues: unchecked,
  concurrency: integerFrom(1, 10_000, 10),
  resources: checkResources,
  prefetch: checkPrefetch,
  maxInFlightBytes: optional(integerFrom(1)),
  leaseMs: integerFrom(100, MAX_TIMER_MS, 60_000),
  cancelPollMs: integerFrom(100, MAX_TIMER_MS, 5000),
  maxRunMs: optionalMs,
  backoff: (option: string, value: unknown) =>
    checkOptions(option, value as Backoff | undefined, BACKOFF, "backoff."),
  name: (option: string, value: unknown) =>
    text(option, value ?? `wadi-${ulid().slice(-8).toLowerCase()}`, MAX_WORKER_NAME_BYTES),
  schedules: unchecked, // with the two others, by checkSchedules
  scheduleGroup: unchecked,
  scheduleRevision: unchecked,
  around: optionalFunction<WorkerHooks["around"]>,
  onEvent: optionalFunction<WorkerHooks["onEvent"]>,
  onError: optionalFunction<WorkerHooks["onError"]>,
  logger: checkLogger,
  ...LONG_RUNNING,
} satisfies CompleteChecks<WorkerOptions>;

/** @throws {InvalidArgument} naming the option that is out of range. */
export function checkWorkerOptions(options: WorkerOptions): WorkerSettings {
  const { prefetch, around, onEvent, onError, logger, ...settings } = checkOptions(
    "new Worker",
    options,
    OPTIONS,
  );
  return {
    ...settings,
    ...prefetch,
    queues: queuesOf(options) ?? ["default"],
    maxPollMs: maxPollMsOf(options, settings.pollMs),
    schedules: checkSchedules(options),
    givenName: options.name ?? null,
    hooks: { around, onEvent, onError: onError ?? warnOnError(logger), logger },
  };
}

function checkLogger(_: string, value: unknown): Logger | null {
  const logger = (value === undefined ? console : value) as Logger | null;
  if (logger === null || (typeof logger.error === "function" && typeof logger.warn === "function"))
    return logger;
  throw new InvalidArgument("logger must be an object with error and warn, or null");
}

function checkSchedules({ schedules, scheduleGroup, scheduleRevision }: WorkerOptions): CodeSchedules | null {
  const group = checkScheduleName("scheduleGroup", scheduleGroup ?? DEFAULT_GROUP);
  const revision = integer("scheduleRevision", scheduleRevision ?? 0, 0);
  if (schedules === undefined) {
    if (scheduleGroup === undefined && scheduleRevision === undefined) return null;
    throw new InvalidArgument(
      "scheduleGroup and scheduleRevision need schedules, which may be an empty list",
    );
  }
  if (!Array.isArray(schedules))
    throw new InvalidArgument(`schedules must be a list of schedules, got ${show(schedules)}`);
  const checked = schedules.map(checkSchedule);
  const names = checked.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new InvalidArgument(`schedules has two schedules with the name "${twice}"; rename one of them`);
  return new CodeSchedules(group, revision, checked);
}

function checkResources(_: string, value: unknown): ReadonlyMap<string, number> {
  const resources = value as WorkerOptions["resources"];
  if (resources === undefined) return new Map();
  requireRecord("resources", resources);
  return new Map(
    Object.entries(resources).map(([name, calls]) => [
      text("the name of a resource", name),
      integer(`resources.${name}`, calls, 1, 10_000),
    ]),
  );
}

function checkPrefetch(
  option: string,
  value: unknown = 0,
): Pick<PoolSizes, "prefetch"> & Pick<ByteLimits, "prefetchBytes"> {
  if (typeof value === "number") {
    return { prefetch: integer(option, value, 0, MAX_PREFETCH), prefetchBytes: null };
  }
  if (typeof value !== "object" || value === null) {
    throw new InvalidArgument(`prefetch must be a number of tasks or { tasks, bytes }, got ${show(value)}`);
  }
  const { tasks, bytes } = checkOptions(option, value, PREFETCH, "prefetch.");
  return { prefetch: tasks, prefetchBytes: bytes };
}
