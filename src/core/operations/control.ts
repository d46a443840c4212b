/** Cancels, retries and deletes tasks on behalf of the application, not of the worker that runs them. */

import type { Row, Statement } from "../executor.ts";
import { isTerminal, type Task } from "../task.ts";
import { decodeTask } from "./decode-task.ts";
import { type Operation, type SqlTarget, single } from "./operation.ts";
import { refValues, type TaskRef } from "./read.ts";
import { bind, type Values } from "./statement.ts";

/** Null filters match everything. */
export type PurgeFilter = Values<"purge_tasks">;

/** Checked rules, one item for each statement of a sweep. */
export type Retention = readonly Omit<PurgeFilter, "max_tasks">[];

/**
 * The effect of a cancel: a queued task is `canceled`, a running task is `requested` to stop. `unchanged`: the task has
 * ended, or was requested to stop before.
 */
export type CancelOutcome = "canceled" | "requested" | "unchanged";

/** The task that a cancel found, as it is afterwards. */
export type CanceledTask = Task & { readonly outcome: CancelOutcome };

/** The effect of a retry: the task is `queued` again, or `unchanged`, because it is live or has succeeded. */
export type RetryOutcome = "queued" | "unchanged";

/** The task that a retry found, as it is afterwards. */
export type RetriedTask = Task & {
  readonly outcome: RetryOutcome;
  /** The key that points at this task now; null if it was submitted without one, or if a newer task has taken it. */
  readonly key: string | null;
};

/** Cancels a queued task, requests a running one to stop, and returns the task as it is afterwards. */
export function cancelTask(
  target: SqlTarget,
  ref: TaskRef,
  isResent = false,
): Operation<CanceledTask | null> {
  const values = refValues(ref);
  return {
    name: "cancel",
    statements: [bind(target, "cancel_task", values), bind(target, "select_task", values)],
    decode: (results) => {
      const [changed, [row]] = results as [Row[], Row[]];
      if (row === undefined) return null;
      const task = decodeTask(row);
      // After a lost answer the row does not show whose cancel it was: most likely it was this one.
      const isOurs = changed.length > 0 || (isResent && task.cancelRequestedAtMs !== null);
      return Object.assign(task, { outcome: isOurs ? cancelOutcome(task) : "unchanged" });
    },
    resend: () => cancelTask(target, ref, true),
  };
}

function cancelOutcome({ status }: Task): CancelOutcome {
  if (status === "canceled") return "canceled";
  return status === "running" ? "requested" : "unchanged";
}

/** Queues a failed or canceled task again and returns the task as it is afterwards. */
export function retryTask(
  target: SqlTarget,
  ref: TaskRef,
  resetAttempt: boolean,
  isResent = false,
): Operation<RetriedTask | null> {
  const values = refValues(ref);
  // On Postgres a keyed submit must not decide that the key is free while its task comes back to life.
  const lock: Statement[] = target.dialect === "postgres" ? [bind(target, "lock_task", values)] : [];
  const retry = bind(target, "retry_task", { ...values, reset_attempt: resetAttempt ? 1 : 0 });
  return {
    name: "retry",
    statements: [...lock, retry, bind(target, "select_retried", values)],
    decode: (results) => {
      const [changed, [row]] = results.slice(-2) as [Row[], Row[]];
      if (row === undefined) return null;
      const task = decodeTask(row);
      const isQueued = changed.length > 0 || (isResent && !isTerminal(task.status));
      const key = row.task_key === null ? null : String(row.task_key);
      return Object.assign(task, { outcome: isQueued ? ("queued" as const) : ("unchanged" as const), key });
    },
    resend: () => retryTask(target, ref, resetAttempt, true),
  };
}

/** Deletes terminal tasks, oldest first, and returns how many. */
export function purgeTasks(target: SqlTarget, filter: PurgeFilter): Operation<number> {
  return single("purge", bind(target, "purge_tasks", filter), (rows) => rows.length);
}

/** The result of one sweep. */
export interface SweepResult {
  /** Tasks deleted. */
  readonly purged: number;
  /** Whether a rule deleted as many tasks as one sweep may, so that there are probably more. */
  readonly more: boolean;
}

/** How long a sweep keeps the limits of a key that no task uses. */
const IDLE_LIMITS_MS = 24 * 3_600_000;

/** One bounded purge for each rule and status, and one of unused limits, all in one round trip. */
export function sweepTasks(target: SqlTarget, retention: Retention, limit: number): Operation<SweepResult> {
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
