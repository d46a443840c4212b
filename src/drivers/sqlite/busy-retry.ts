// Waits for SQLite's locks without blocking the event loop.

/** How long to wait for a lock if neither the caller nor the client says: 5 seconds, the usual busy timeout. */
export const DEFAULT_BUSY_TIMEOUT_MS = 5000;

/**
 * Calls `attempt` until it meets no lock, for at most `timeoutMs`, then rethrows the last error.
 *
 * SQLite's busy timeout sleeps on the thread that called it, which in JavaScript blocks the event loop of the whole
 * process. So `attempt` must fail immediately on a lock, and the wait between two attempts is a timer.
 */
export async function retryWhileBusy<T>(
  attempt: () => T | Promise<T>,
  isBusy: (error: unknown) => boolean,
  timeoutMs: number,
): Promise<T> {
  let deadline: number | undefined;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error)) throw error;
      deadline ??= performance.now() + timeoutMs;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw error;
      // 1, 2, 4 … 25 ms like SQLite's busy handler; the jitter keeps waiting processes from retrying in step.
      const stepMs = Math.min(2 ** tries, 25) * (0.5 + Math.random());
      await new Promise((resolve) => setTimeout(resolve, Math.min(stepMs, leftMs)));
    }
  }
}
