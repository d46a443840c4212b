/** The reports of a drain: its summary when it has ended, and its status while it runs. */

import type { UnhandledTasks } from "../core/operations/claim-result.ts";

/** The work that one drain did, and whether some is left. */
export interface DrainSummary {
  /** Tasks that were claimed. */
  readonly claimed: number;
  /** Tasks that succeeded. */
  readonly succeeded: number;
  /** Failed for good. */
  readonly failed: number;
  /** Failed and queued again. */
  readonly retried: number;
  /** Returned to the queue before they started, without spending an attempt. */
  readonly released: number;
  /** Queued again by `snooze`, without spending an attempt. */
  readonly snoozed: number;
  /** Tasks that were canceled while they ran. */
  readonly canceled: number;
  /**
   * Tasks, of this or another worker, whose lease had expired; they are queued again, or failed as `max_crashes` or
   * `lease_expired`.
   */
  readonly recovered: number;
  /** Attempts whose lease was lost before they could be settled. */
  readonly lost: number;
  /** Requests to the database. */
  readonly roundTrips: number;
  /**
   * Statements sent, by the drain and through the contexts of its handlers; a batch of n counts n. Statements that
   * handlers send through `wadi` itself are not counted.
   */
  readonly queries: number;
  /** True if tasks were due when the drain ended: drain again. */
  readonly more: boolean;
  /** Due tasks in its queues whose names have no handler here, as its first claim found them; at most 20 names. */
  readonly unhandled: readonly UnhandledTasks[];
  /** Due tasks that it could not run; at most 20 entries. They do not count for `more` and `nextDueAtMs`. */
  readonly skipped: readonly SkippedTasks[];
  /** When the next task is due or the next lease expires, in epoch milliseconds; null if nothing is queued. */
  readonly nextDueAtMs: number | null;
}

/** The state of a drain at the moment. */
export interface DrainStatus {
  /** Names of the tasks in handlers, with repeats. */
  readonly running: readonly string[];
  /** How many tasks are claimed and wait for a slot. */
  readonly ready: number;
  /** Handler calls that may run at once. */
  readonly slots: number;
  readonly totals: DrainSummary;
}

/** A name that a drain skipped, or one task of it. */
export interface SkippedTasks {
  /** The name that was skipped, or that of the task. */
  readonly name: string;
  /** The task; absent if the whole name was skipped. */
  readonly id?: string;
  /**
   * `maxRunMs`: the drain has less time than the `maxRunMs` of the name. `maxResponseBytes`: the task is larger than
   * the longest answer of the database's driver.
   */
  readonly reason: "maxRunMs" | "maxResponseBytes";
}
