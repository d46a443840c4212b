/** How an operation is sent again after a failure that may pass. */
import type { Backoff } from "../backoff.ts";
import { checkOptions, integerFrom } from "../check-options.ts";
import { MAX_TIMER_MS } from "../timers.ts";

/** How often and how long an operation is sent again after a transient or unknown failure. */
export interface RetryPolicy extends Backoff {
  /** Sends in all, including the first. From 1 to 1000. @default 6 */
  readonly tries: number;
  /**
   * Longest pause before the second send in milliseconds; it doubles with each further one. Minimum `0`. @default 50
   */
  readonly baseMs: number;
  /** Longest pause between two sends in milliseconds. Minimum `0`. @default 1000 */
  readonly capMs: number;
}

/** @throws {InvalidArgument} if a number is out of range. */
export function checkRetryOptions(retry?: Partial<RetryPolicy>): RetryPolicy {
  return checkOptions<RetryPolicy>("requestRetry", retry, RETRY, "requestRetry.");
}

const RETRY = {
  tries: integerFrom(1, 1000, 6),
  baseMs: integerFrom(0, MAX_TIMER_MS, 50),
  capMs: integerFrom(0, MAX_TIMER_MS, 1000),
};
