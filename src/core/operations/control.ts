import { decodeTask } from "../codec.ts";
import type { Row, Statement } from "../executor.ts";
import { type Operation, single, type Target } from "../operation.ts";
import { bind, type Values } from "../statement.ts";
import type { Task } from "../task.ts";
import { refValues, type TaskRef } from "./read.ts";

/** Null filters match everything. */
export type PurgeFilter = Values<"purge_tasks">;

/** Rules that were checked, one item for each statement of a sweep. */
export type Retention = readonly Omit<PurgeFilter, "max_tasks">[];

function lastTask(results: readonly Row[][]): Task | null {
  const row = results.at(-1)?.[0];
  return row === undefined ? null : decodeTask(row);
}

/** Cancels a queued task, asks a running one to stop, and returns the task as it is then. */
export function cancelTask(target: Target, ref: TaskRef): Operation<Task | null> {
  const values = refValues(ref);
  return {
    name: "cancel",
    statements: [bind(target, "cancel_task", values), bind(target, "select_task", values)],
    decode: lastTask,
  };
}

/** Queues a failed or canceled task again and returns the task as it is then. */
export function retryTask(target: Target, ref: TaskRef, resetAttempt: boolean): Operation<Task | null> {
  const values = refValues(ref);
  // On Postgres a keyed submit must not decide that the key is free while its task comes back to life.
  const lock: Statement[] = target.dialect === "postgres" ? [bind(target, "lock_task", values)] : [];
  return {
    name: "retry",
    statements: [
      ...lock,
      bind(target, "retry_task", {
        ...values,
        reset_attempt: resetAttempt ? 1 : 0,
      }),
      bind(target, "select_task", values),
    ],
    decode: lastTask,
  };
}

/** Deletes terminal tasks, oldest first, and returns how many. */
export function purgeTasks(target: Target, filter: PurgeFilter): Operation<number> {
  return single("purge", bind(target, "purge_tasks", filter), (rows) => rows.length);
}

/** What one sweep did. */
export interface Swept {
  /** Tasks deleted. */
  readonly purged: number;
  /** Whether a rule deleted all it may in one sweep, so that there is probably more. */
  readonly more: boolean;
}

/** How long a sweep keeps the limits of a key that nobody uses. */
const IDLE_LIMITS_MS = 24 * 3_600_000;

/** One bounded purge for each rule and status, and of limits that nobody uses, all in one round trip. */
export function sweepTasks(target: Target, retention: Retention, limit: number): Operation<Swept> {
  const purges = retention.map((filter) => bind(target, "purge_tasks", { ...filter, max_tasks: limit }));
  return {
    name: "sweep",
    statements: [...purges, bind(target, "purge_limits", { older_than_ms: IDLE_LIMITS_MS, max_keys: limit })],
    decode: (results) => ({
      purged: results.slice(0, -1).flat().length,
      more: results.some((rows) => rows.length >= limit),
    }),
  };
}
