/** Waiting with the platform's timers. */

/** Longest time that a timer takes; with a longer one it would end immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

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
