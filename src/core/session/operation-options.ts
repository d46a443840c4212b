/** The options that every call accepts: a signal, a deadline, a meter. */
import { monotonicMs, toMonotonicMs } from "../monotonic-clock.ts";
import type { QueryMeter } from "./query-meter.ts";

export interface OperationOptions {
  /** Ends the call, and its retries, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * When the call ends at the latest, answered or not, in epoch milliseconds; `Infinity` waits without a limit.
   * @default 30 seconds from now
   */
  readonly deadlineMs?: number | undefined;
  /** Counts every statement the call sends. */
  readonly meter?: QueryMeter | undefined;
  /** See `SendOptions`. */
  readonly openTransaction?: "wait" | "refuse" | undefined;
}

/** Makes a call fail at once while the application has a transaction open: to wait for its end could be a deadlock. */
export function refuseOpenTransaction(call: OperationOptions | undefined): OperationOptions {
  return { ...call, openTransaction: "refuse" };
}

/** Whether the caller has stopped waiting for the result. */
export function hasEnded({ signal, deadlineMs }: OperationOptions): boolean {
  return (signal?.aborted ?? false) || (deadlineMs !== undefined && Date.now() >= deadlineMs);
}

/**
 * The signal and the time that end a call. The time is on the monotonic clock, because the clock of the machine may be
 * set meanwhile.
 */
export interface Deadline {
  readonly signal: AbortSignal | undefined;
  readonly endsAtMs: number;
}

export function deadlineOf({ signal, deadlineMs }: OperationOptions, defaultMs: number): Deadline {
  const endsAtMs = deadlineMs === undefined ? monotonicMs() + defaultMs : toMonotonicMs(deadlineMs);
  return { signal, endsAtMs };
}
