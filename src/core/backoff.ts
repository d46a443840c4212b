/** How long to wait between attempts: `baseMs`, doubled with each attempt up to `capMs`, of which a random time from its upper half is taken. */
export interface Backoff {
  /** Longest wait after the first attempt, in milliseconds; `0` disables the wait. Minimum `0`. @default 1000 */
  readonly baseMs: number;
  /** Longest wait after any attempt, in milliseconds. Minimum `0`. @default 30000 */
  readonly capMs: number;
}

/** A delay drawn uniformly from the upper half of the attempt's window. `attempt` starts at 1. */
export function backoffDelay({ baseMs, capMs }: Backoff, attempt: number): number {
  const window = Math.min(capMs, baseMs * 2 ** (attempt - 1));
  return Math.floor(window / 2 + (Math.random() * window) / 2);
}

/** Resolves after `ms`, or once `wake` does, or rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal?: AbortSignal, wake?: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
    wake?.then(end);
    if (signal?.aborted) end();
  });
}
