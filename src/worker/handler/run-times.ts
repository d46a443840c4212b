/** How many runs an estimate is made from. */
const SAMPLES = 64;
/** After how many more runs the estimate is computed again. */
const REFRESH_EVERY = 64;

/** How long the last runs of one handler took. */
export class RunTimes {
  readonly #durations: number[] = [];
  #count = 0;
  #p95 = 0;
  #isCurrent = true;

  add(durationMs: number): void {
    this.#durations[this.#count % SAMPLES] = durationMs;
    if (++this.#count <= SAMPLES || this.#count % REFRESH_EVERY === 0) this.#isCurrent = false;
  }

  /** The 95th percentile in milliseconds, 0 before the first run. */
  p95(): number {
    if (!this.#isCurrent) {
      const sorted = [...this.#durations].sort((a, b) => a - b);
      this.#p95 = sorted[Math.floor(sorted.length * 0.95)]!;
      this.#isCurrent = true;
    }
    return this.#p95;
  }
}
