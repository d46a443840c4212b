/** Exponential backoff with jitter. */

/**
 * How long to wait between attempts. The longest wait is `baseMs`, doubled with each attempt up to `capMs`; the wait is
 * a random time from the upper half of it.
 */
export interface Backoff {
  /** Longest wait after the first attempt, in milliseconds; `0` disables the wait. Minimum `0`. @default 1000 */
  readonly baseMs: number;
  /** Longest wait after any attempt, in milliseconds. Minimum `0`. @default 30000 */
  readonly capMs: number;
}

/** The delay after an attempt, drawn uniformly from the upper half of its longest wait. `attempt` starts at 1. */
export function backoffDelay({ baseMs, capMs }: Backoff, attempt: number): number {
  const window = Math.min(capMs, baseMs * 2 ** (attempt - 1));
  return Math.floor(window / 2 + (Math.random() * window) / 2);
}
