/** How many of the last round trips count. */
const SAMPLES = 8;
/** Shortest margin in milliseconds: timers and the event loop are late too. */
const FLOOR_MS = 50;
/** Margin in milliseconds while no round trip has been measured. */
const UNMEASURED_MS = 750;

/**
 * How long before the end of an invocation a drain sends its last settlement, by how long the last round trips of the
 * worker took. All drains of a worker share it.
 */
export class SettleMargin {
  readonly #tripsMs: number[] = [];
  #count = 0;
  /** The slowest of them, in milliseconds; null before the first one. */
  #slowestMs: number | null = null;

  /** A round trip was answered after `ms`. */
  answered(ms: number): void {
    this.#tripsMs[this.#count++ % SAMPLES] = ms;
    this.#slowestMs = Math.max(...this.#tripsMs);
  }

  /**
   * The margin in milliseconds for an invocation of `budgetMs`: the slowest of the last round trips twice, in case the
   * answer is lost and the settlement is sent again. A short invocation has a shorter floor.
   */
  of(budgetMs: number): number {
    if (this.#slowestMs === null) return Math.min(UNMEASURED_MS, (budgetMs * 3) / 40);
    return Math.min(Math.max(2 * this.#slowestMs, Math.min(FLOOR_MS, budgetMs / 20)), budgetMs / 4);
  }
}
