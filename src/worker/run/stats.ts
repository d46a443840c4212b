/** The state and the counts of a worker: `worker.stats()`. */

import type { WadiInternals } from "../../producer/internals.ts";
import type { WakeSource } from "../../producer/notify/channel-connection.ts";
import type { DrainStatus, DrainSummary } from "../drain-summary.ts";
import type { ErrorContext, WorkerHooks } from "../hooks.ts";

/** Whether a worker runs; `stopping` from a stop until its last handler has ended. */
export type WorkerState = "stopped" | "running" | "stopping";

/** The last error a worker recovered from. */
export interface LastError extends ErrorContext {
  /** The error. */
  readonly error: unknown;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

/** The state of a worker at the moment, and its counts. */
export interface WorkerStats {
  /** Whether it runs. */
  readonly state: WorkerState;
  /** Tasks in handlers. */
  readonly running: number;
  /** Claimed tasks that wait for a slot. */
  readonly ready: number;
  /** Handler calls that may run at once. */
  readonly slots: number;
  /**
   * How it learns of new tasks between its polls: from notifications of the database (`listening`), or only from
   * submits of its `Wadi` (`local` if the driver cannot listen, `polling` while it fails to listen).
   */
  readonly wakeSource: WakeSource;
  /** Counts since it started. */
  readonly totals: DrainSummary;
  /** Null if there was none. */
  readonly lastError: LastError | null;
}

export function statsOf(
  state: WorkerState,
  { running, ...status }: DrainStatus,
  wadi: WadiInternals,
  lastError: LastError | null,
): WorkerStats {
  return { state, running: running.length, ...status, wakeSource: wadi.notifier.wakeSource, lastError };
}

/** The same hooks, with each error passed to `record` before `onError`. */
export function recordErrors(hooks: WorkerHooks, record: (error: LastError) => void): WorkerHooks {
  return {
    ...hooks,
    onError(error, context) {
      record({ error, ...context, atMs: Date.now() });
      hooks.onError?.(error, context);
    },
  };
}
