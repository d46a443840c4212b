import { NEVER } from "../../core/infinity.ts";
import type { SettleMargin } from "./settle-margin.ts";

/** How long a handler that was stopped may take to return before it is cut off; shorter in a short drain. */
const CUT_OFF_MS = 250;
/** A run that is expected to take a larger share of the drain than this starts as if it took this share. */
const LONGEST_ESTIMATE = 0.8;
/** From the answer of the first claim until its tasks have started, at most; shorter in a short drain. */
const START_MS = 50;

/**
 * The time of one drain: when its handlers are stopped, so that their outcomes can still be stored, and how long a
 * handler may be. All times are on the monotonic clock.
 */
export class DrainTime {
  /** When the drain must be over; `Infinity` if it is continuous. */
  readonly deadlineMs: number;
  /** How long a handler that was stopped may take to return before it is cut off, in milliseconds. */
  readonly cutOffMs: number;
  readonly #budgetMs: number;
  readonly #margin: SettleMargin;
  #stoppedAtMs = NEVER;
  /** What was left when the first claim was answered: no handler can have more. */
  #wholeMs: number | null = null;

  constructor(nowMs: number, deadlineMs: number, margin: SettleMargin) {
    this.deadlineMs = deadlineMs;
    this.#budgetMs = Math.max(0, deadlineMs - nowMs);
    this.cutOffMs = Math.min(CUT_OFF_MS, this.#budgetMs / 40);
    this.#margin = margin;
  }

  /** When handlers are stopped. It moves with the measured round trips. */
  get stopAtMs(): number {
    if (this.deadlineMs === NEVER) return this.#stoppedAtMs;
    const inTimeMs = this.deadlineMs - this.cutOffMs - this.#margin.of(this.#budgetMs);
    return Math.min(inTimeMs, this.#stoppedAtMs);
  }

  /** Until handlers are stopped, in milliseconds; negative once they are. */
  leftMs(nowMs: number): number {
    return this.stopAtMs - nowMs;
  }

  /** The last moment at which a settlement can be sent and answered: the margin has time for two. */
  get lastTryAtMs(): number {
    return this.deadlineMs === NEVER ? NEVER : this.deadlineMs - this.#margin.of(this.#budgetMs) / 2;
  }

  /** A round trip was answered after `ms`. */
  answered(ms: number): void {
    this.#margin.answered(ms);
  }

  /** A claim was answered: if it is the first one, tasks can start from now on. */
  claimed(nowMs: number): void {
    this.#wholeMs ??= this.leftMs(nowMs);
  }

  /** The drain was stopped before its time was up; its handlers may go on until `stopAtMs`. */
  stop(stopAtMs: number): void {
    this.#stoppedAtMs = Math.min(this.#stoppedAtMs, stopAtMs);
  }

  /**
   * The longest time in milliseconds that an estimate counts for. A name whose runs were longer than that starts at
   * the beginning of a drain all the same: it would never run again otherwise.
   */
  get longestEstimateMs(): number {
    return LONGEST_ESTIMATE * (this.#wholeMs ?? this.#budgetMs);
  }

  /** The longest run in milliseconds that a handler may declare: a name with a longer one is skipped. */
  get longestRunMs(): number {
    return this.#wholeMs === null ? NEVER : this.#wholeMs - Math.min(START_MS, this.#wholeMs / 20);
  }
}
