/** The monotonic clock, and conversions between it and epoch time. */

/** The difference between the two clocks when the first interval was measured. */
let offsetMs: number | undefined;

/**
 * Milliseconds on a clock that never goes back and never jumps, even if the clock of the machine is set. For intervals:
 * leases, pauses, deadlines. It starts at the epoch time and may drift from it later.
 */
export function monotonicMs(): number {
  // Not read when the module is loaded: on an edge runtime time begins with the first request.
  offsetMs ??= Date.now() - performance.now();
  return Math.floor(offsetMs + performance.now());
}

/** A time of the monotonic clock in epoch milliseconds, as the machine's clock is set now. */
export function toEpochMs(monotonic: number): number {
  return Date.now() + (monotonic - monotonicMs());
}

/** A time in epoch milliseconds on the monotonic clock, as the machine's clock is set now. */
export function toMonotonicMs(epochMs: number): number {
  return monotonicMs() + (epochMs - Date.now());
}
