/** How often the loop is looked at, at most and at least, in milliseconds. */
const MAX_TICK_MS = 1000;
const MIN_TICK_MS = 10;
/** A block is told from this share of a lease on: three more of its kind and the lease is gone. */
const SHARE = 4;

/**
 * Calls `onBlocked` after each stretch in which the event loop stood still for a quarter of a lease or longer, as soon
 * as it turns again. A process that was suspended counts too: it could not renew a lease either.
 */
export function watchEventLoop(leaseMs: number, onBlocked: (blockedMs: number) => void): () => void {
  const thresholdMs = leaseMs / SHARE;
  const tickMs = Math.max(MIN_TICK_MS, Math.min(MAX_TICK_MS, Math.floor(thresholdMs / 2)));
  let lastMs = Date.now();
  const timer = setInterval(() => {
    const nowMs = Date.now();
    const blockedMs = nowMs - lastMs - tickMs;
    lastMs = nowMs;
    if (blockedMs >= thresholdMs) onBlocked(blockedMs);
  }, tickMs);
  return () => clearInterval(timer);
}
