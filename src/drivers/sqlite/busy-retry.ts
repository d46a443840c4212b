/** How SQLite waits for a lock when the caller does not say: 5 seconds, the usual busy timeout. */
export const DEFAULT_BUSY_TIMEOUT_MS = 5000;

/**
 * Runs `attempt` until it does not meet a lock, for at most `timeoutMs`, then rethrows what it met.
 *
 * SQLite's own busy timeout sleeps on the thread that called it, which in JavaScript is the event loop of the
 * whole process. So `attempt` must fail at once on a lock, and the waiting happens here, on timers.
 */
export async function retryWhileBusy<T>(
  attempt: (tries: number) => T | Promise<T>,
  isBusy: (error: unknown) => boolean,
  timeoutMs: number,
): Promise<T> {
  let deadline: number | undefined;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt(tries);
    } catch (error) {
      if (!isBusy(error)) throw error;
      deadline ??= performance.now() + timeoutMs;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw error;
      // 1, 2, 4 … 25 ms like SQLite's own handler; the jitter keeps waiting processes from moving in step.
      const stepMs = Math.min(2 ** tries, 25) * (0.5 + Math.random());
      await new Promise((resolve) => setTimeout(resolve, Math.min(stepMs, leftMs)));
    }
  }
}
