/** Controlling tasks that were submitted: what a `Wadi` offers, and the checks and notifications behind it. */
import { type CompleteChecks, checkOptions, integerFrom, optional } from "../../core/check-options.ts";
import { InvalidArgument } from "../../core/errors/errors.ts";
import {
  type CanceledTask,
  cancelTask,
  type PurgeFilter,
  purgeTasks,
  type RetriedTask,
  retryTask,
  type SweepResult,
  sweepTasks,
} from "../../core/operations/control.ts";
import type { TaskRef } from "../../core/operations/read.ts";
import type { Session } from "../../core/session/session.ts";
import { isTerminal, TERMINAL_STATUSES } from "../../core/task.ts";
import { oneOf, optionalFlag, optionalText } from "../../core/validate.ts";
import { type CallOptions, directCall } from "../call-options.ts";
import type { WadiInternals } from "../internals.ts";
import type { BulkFilter, BulkOptions, RetryManyOptions } from "./bulk.ts";
import type { BulkResult } from "./bulk-run.ts";
import { checkRetention, type RetentionRule } from "./retention-rules.ts";

/** The methods of a `Wadi` that change tasks that were submitted: cancel, retry and delete. */
export interface TaskControls {
  /**
   * Cancels a queued task at once, asks a running one to stop, and returns it; null if there is none. `outcome` is
   * `unchanged` if the task had ended, or had been asked before.
   *
   * @example
   * ```ts
   * const canceled = await wadi.cancel("01JD2F7ZK3V7M2T6B8QW9X4C5E");
   * console.log(canceled?.outcome);
   * ```
   */
  cancel(id: string, call?: CallOptions): Promise<CanceledTask | null>;
  /**
   * `cancel` for the task a key points at.
   *
   * @example
   * ```ts
   * await wadi.cancelByKey("image:a");
   * ```
   */
  cancelByKey(key: string, call?: CallOptions): Promise<CanceledTask | null>;

  /**
   * Queues a failed or canceled task again and returns it; null if there is none. `outcome` is `unchanged` if it is
   * queued or running, or has succeeded. If a newer task has taken its key, it runs without one: `key` is null.
   *
   * @example
   * ```ts
   * await wadi.retry("01JD2F7ZK3V7M2T6B8QW9X4C5E", { resetAttempt: true });
   * ```
   */
  retry(id: string, options?: RetryOptions, call?: CallOptions): Promise<RetriedTask | null>;
  /**
   * `retry` for the task a key points at.
   *
   * @example
   * ```ts
   * await wadi.retryByKey("image:a");
   * ```
   */
  retryByKey(key: string, options?: RetryOptions, call?: CallOptions): Promise<RetriedTask | null>;

  /**
   * Cancels every task that matches the filter: queued ones at once, running ones are asked to stop. Counts first, and
   * leaves alone what was submitted after the count. One round trip for each 500 tasks, each committed by itself.
   *
   * @throws {InvalidArgument} if the filter is empty or an option is wrong.
   * @example
   * ```ts
   * const filter = { queue: "mail", name: "digest" };
   * const counted = await wadi.cancelMany(filter, { countOnly: true });
   * console.log(`${counted.matched} tasks will be canceled`);
   * let cursor = counted.cursor;
   * while (cursor !== null) ({ cursor } = await wadi.cancelMany(filter, { cursor }));
   * ```
   */
  cancelMany(
    filter: BulkFilter<"queued" | "running">,
    options?: BulkOptions,
    call?: CallOptions,
  ): Promise<BulkResult>;
  /**
   * Queues every failed task that matches the filter again, or every canceled one with `status: "canceled"`. Leaves
   * alone what failed after the count, so a task that fails again is retried once. Else as `cancelMany`.
   *
   * @throws {InvalidArgument} if the filter is empty or an option is wrong.
   * @example
   * ```ts
   * const { changed } = await wadi.retryMany({ queue: "mail", name: "digest" }, { resetAttempt: true });
   * ```
   */
  retryMany(
    filter: BulkFilter<"failed" | "canceled">,
    options?: RetryManyOptions,
    call?: CallOptions,
  ): Promise<BulkResult>;
  /**
   * Deletes every terminal task that matches the filter, with its key and history, oldest first. Leaves alone what
   * ended after the count. Else as `cancelMany`. For a retention by age, use `purge` and `sweep`.
   *
   * @throws {InvalidArgument} if the filter is empty or an option is wrong.
   * @example
   * ```ts
   * const { changed } = await wadi.purgeMany({ correlationId: "request-7" });
   * ```
   */
  purgeMany(
    filter: BulkFilter<"succeeded" | "failed" | "canceled">,
    options?: BulkOptions,
    call?: CallOptions,
  ): Promise<BulkResult>;

  /**
   * Deletes terminal tasks, oldest first, with their keys, and returns how many.
   *
   * @example
   * ```ts
   * const deleted = await wadi.purge({ olderThanMs: 7 * 24 * 3_600_000, status: "succeeded" });
   * ```
   */
  purge(options: PurgeOptions, call?: CallOptions): Promise<number>;

  /**
   * Deletes the finished tasks whose time by these rules is over, with their keys and history, in one round trip: at
   * most `limit` for each rule and status. `more` is true if another sweep would delete more.
   *
   * @throws {InvalidArgument} naming the option of a rule that is wrong.
   * @example
   * ```ts
   * const day = 24 * 3_600_000;
   * const { purged, more } = await wadi.sweep([{ olderThanMs: { succeeded: day, failed: 30 * day } }]);
   * ```
   */
  sweep(rules: readonly RetentionRule[], options?: SweepOptions, call?: CallOptions): Promise<SweepResult>;
}

/** Which terminal tasks a `purge` deletes: those that match every given option. */
export interface PurgeOptions {
  /** Only tasks that completed longer ago than this, in milliseconds. Minimum `0`. */
  readonly olderThanMs: number;
  /** Only tasks of this queue. @default any */
  readonly queue?: string | undefined;
  /** Only tasks of this status. @default any terminal one */
  readonly status?: "succeeded" | "failed" | "canceled" | undefined;
  /** Only tasks of this name. @default any */
  readonly name?: string | undefined;
  /** Most tasks to delete in this call. From 1 to 100000. @default 1000 */
  readonly limit?: number | undefined;
}

/** How much one `sweep` deletes. */
export interface SweepOptions {
  /** Most tasks to delete for each rule and status. From 1 to 100000. @default 1000 */
  readonly limit?: number | undefined;
}

/** How a task is retried. */
export interface RetryOptions {
  /** Resets its attempts and crashes to zero; otherwise the retry is one more attempt. @default false */
  readonly resetAttempt?: boolean | undefined;
}

const PURGE = {
  olderThanMs: integerFrom(0),
  queue: optionalText,
  status: optional((option, value) => oneOf(option, value, TERMINAL_STATUSES)),
  name: optionalText,
  limit: integerFrom(1, 100_000, 1000),
} satisfies CompleteChecks<PurgeOptions>;

const SWEEP = { limit: PURGE.limit } satisfies CompleteChecks<SweepOptions>;
const RETRY = { resetAttempt: optionalFlag } satisfies CompleteChecks<RetryOptions>;

function checkPurge(options: PurgeOptions): PurgeFilter {
  if (options === undefined)
    throw new InvalidArgument(
      "purge takes { olderThanMs }, and { olderThanMs: 0 } deletes all that is finished",
    );
  const { olderThanMs, limit, ...filter } = checkOptions("purge", options, PURGE);
  return { ...filter, older_than_ms: olderThanMs, max_tasks: limit };
}

/** @throws {InvalidArgument} naming the option that is out of range. */
export function purge(session: Session, options: PurgeOptions, call?: CallOptions): Promise<number> {
  return session.execute(purgeTasks(session.target, checkPurge(options)), directCall("purge", call));
}

/** @throws {InvalidArgument} naming the rule or option that is out of range. */
export function sweep(
  session: Session,
  rules: readonly RetentionRule[],
  options: SweepOptions = {},
  call?: CallOptions,
): Promise<SweepResult> {
  const { limit } = checkOptions("sweep", options, SWEEP);
  const operation = sweepTasks(session.target, checkRetention(rules, "sweep takes"), limit);
  return session.execute(operation, directCall("sweep", call));
}

/** Cancels, and notifies the waits of a task that ended and the worker of one that runs. */
export async function cancelAndNotify(
  { session, notifier }: WadiInternals,
  ref: TaskRef,
  call?: CallOptions,
): Promise<CanceledTask | null> {
  const task = await session.execute(cancelTask(session.target, ref), directCall("cancel", call));
  if (task === null) return null;
  if (isTerminal(task.status)) notifier.done([task.id]);
  else if (task.cancelRequestedAtMs !== null) notifier.canceled([task.id]);
  return task;
}

/** Retries, and notifies the workers of the queue. */
export async function retryAndNotify(
  { session, notifier, hint, waker }: WadiInternals,
  ref: TaskRef,
  options?: RetryOptions,
  call?: CallOptions,
): Promise<RetriedTask | null> {
  const { resetAttempt } = checkOptions("retry", options, RETRY);
  const operation = retryTask(session.target, ref, resetAttempt ?? false);
  const task = await session.execute(operation, directCall("retry", call));
  if (task?.status === "queued") {
    notifier.queued([task.queue]);
    hint?.touch();
    if (task.outcome === "queued") void waker?.kickQueues([task.queue], [task.name]);
  }
  return task;
}
