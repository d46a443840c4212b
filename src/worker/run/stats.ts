import type { WakeSource } from "../../producer/notify/channel.ts";
import type { Wadi } from "../../producer/wadi.ts";
import type { DrainStatus, DrainSummary } from "../drain-summary.ts";
import type { ErrorContext, WorkerHooks } from "../hooks.ts";

/** Whether a worker runs, serves or is about to end. */
export type WorkerState = "stopped" | "running" | "stopping";

/** The last thing a worker survived. */
export interface LastError extends ErrorContext {
  readonly error: unknown;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

/** What a worker that stays is doing. */
export interface WorkerStats {
  readonly state: WorkerState;
  /** Tasks in handlers. */
  readonly running: number;
  /** Tasks that are claimed and wait for a slot. */
  readonly ready: number;
  /** Handler calls that may run at once. */
  readonly slots: number;
  /**
   * How it learns of new tasks before it polls: from the database (`listening`), or from what its own `Wadi` submits
   * (`local`, and `polling` while the database should tell and cannot be listened to).
   */
  readonly wakeSource: WakeSource;
  /** What it did since it started. */
  readonly totals: DrainSummary;
  /** The last thing it survived; null if there was none. */
  readonly lastError: LastError | null;
}

/** Puts together what a worker tells of itself. */
export function statsOf(
  state: WorkerState,
  { running, ...status }: DrainStatus,
  wadi: Wadi,
  lastError: LastError | null,
): WorkerStats {
  return { state, running: running.length, ...status, wakeSource: wadi.signals.state, lastError };
}

/** The hooks with one more listener: `keep` gets every error as well. */
export function keepErrors(hooks: WorkerHooks, keep: (error: LastError) => void): WorkerHooks {
  return {
    ...hooks,
    onError(error, context) {
      keep({ error, ...context, atMs: Date.now() });
      hooks.onError?.(error, context);
    },
  };
}
