import { InvalidArgument } from "../../core/errors/errors.ts";
import type { CanceledTask, RetriedTask, SweepResult } from "../../core/operations/control.ts";
import type { TaskRef } from "../../core/operations/read.ts";
import type { Store } from "../../core/session/store.ts";
import { isTerminal, TERMINAL_STATUSES } from "../../core/task.ts";
import { integer, oneOf, onlyKnown, optionalText, show } from "../../core/validate.ts";
import { directCall, type ReadCallOptions } from "../call-options.ts";
import type { Notifier } from "../notify/notifier.ts";
import { checkRetention, type RetentionRule } from "./retention.ts";
import { byId, byKey } from "./task-ref.ts";

export interface PurgeOptions {
  /** Only tasks that completed longer ago than this, in milliseconds. Minimum `0`. */
  readonly olderThanMs: number;
  /** @default any */
  readonly queue?: string | undefined;
  /** @default every one of them */
  readonly status?: "succeeded" | "failed" | "canceled" | undefined;
  /** @default any */
  readonly name?: string | undefined;
  /** Most tasks to delete in this call. From 1 to 100000. @default 1000 */
  readonly limit?: number | undefined;
}

export interface SweepOptions {
  /** Most tasks to delete for each rule and status. From 1 to 100000. @default 1000 */
  readonly limit?: number | undefined;
}

export interface RetryOptions {
  /** Gives the task all its attempts and crashes back; without it the retry is one more attempt. @default false */
  readonly resetAttempt?: boolean | undefined;
}

const PURGE_OPTIONS = Object.keys({
  olderThanMs: true,
  queue: true,
  status: true,
  name: true,
  limit: true,
} satisfies Record<keyof PurgeOptions, true>);

/** The methods of a `Wadi` that change tasks that were submitted: cancel, retry and delete. */
export class TaskControls {
  readonly #store: Store;
  readonly #notifier: Notifier;

  constructor(store: Store, notifier: Notifier) {
    this.#store = store;
    this.#notifier = notifier;
  }

  /**
   * Cancels a queued task at once, asks a running one to stop, and returns it; null if there is none. `outcome` says what
   * was done: `unchanged` if it had ended, or was asked before.
   */
  async cancel(id: string, call?: ReadCallOptions): Promise<CanceledTask | null> {
    return this.#cancel(byId(id), call);
  }

  async cancelByKey(key: string, call?: ReadCallOptions): Promise<CanceledTask | null> {
    return this.#cancel(byKey(key), call);
  }

  /**
   * Queues a failed or canceled task again and returns it; null if there is none. `outcome` is `unchanged` if it is queued
   * or running, or has succeeded. A newer task keeps the key that it took: then this one runs without, and `key` is null.
   */
  async retry(id: string, options: RetryOptions = {}, call?: ReadCallOptions): Promise<RetriedTask | null> {
    return this.#retry(byId(id), options, call);
  }

  async retryByKey(
    key: string,
    options: RetryOptions = {},
    call?: ReadCallOptions,
  ): Promise<RetriedTask | null> {
    return this.#retry(byKey(key), options, call);
  }

  /** Deletes terminal tasks, oldest first, with their keys, and returns how many. */
  async purge(options: PurgeOptions, call?: ReadCallOptions): Promise<number> {
    if (options === undefined)
      throw new InvalidArgument(
        "purge takes { olderThanMs }, and { olderThanMs: 0 } deletes all that is finished",
      );
    onlyKnown("purge", options, PURGE_OPTIONS);
    const filter = {
      older_than_ms: integer("olderThanMs", options.olderThanMs, 0),
      queue: optionalText("queue", options.queue),
      status: options.status === undefined ? null : oneOf("status", options.status, TERMINAL_STATUSES),
      name: optionalText("name", options.name),
      max_tasks: integer("limit", options.limit ?? 1000, 1, 100_000),
    };
    return this.#store.purge(filter, directCall("purge", call));
  }

  /**
   * Deletes the finished tasks that no rule keeps any longer, with their keys and history, in one round trip.
   * For each rule and status it stops at `limit`; `more` says that another sweep would find more.
   *
   * @throws {InvalidArgument} naming the option of a rule that is wrong.
   */
  async sweep(
    rules: readonly RetentionRule[],
    options: SweepOptions = {},
    call?: ReadCallOptions,
  ): Promise<SweepResult> {
    onlyKnown("sweep", options, ["limit"]);
    const limit = integer("limit", options.limit ?? 1000, 1, 100_000);
    return this.#store.sweep(checkRetention(rules), { limit }, directCall("sweep", call));
  }

  async #cancel(ref: TaskRef, call?: ReadCallOptions): Promise<CanceledTask | null> {
    const task = await this.#store.cancel(ref, directCall("cancel", call));
    if (task === null) return null;
    if (isTerminal(task.status)) this.#notifier.done([task.id]);
    else if (task.cancelRequestedAtMs !== null) this.#notifier.canceled([task.id]);
    return task;
  }

  async #retry(ref: TaskRef, options: RetryOptions, call?: ReadCallOptions): Promise<RetriedTask | null> {
    onlyKnown("retry", options, ["resetAttempt"]);
    const { resetAttempt = false } = options;
    if (typeof resetAttempt !== "boolean") {
      throw new InvalidArgument(`resetAttempt must be true or false, got ${show(resetAttempt)}`);
    }
    const task = await this.#store.retry(ref, resetAttempt, directCall("retry", call));
    if (task?.status === "queued") this.#notifier.queued([task.queue]);
    return task;
  }
}
