/** Runs an estimate is made from, and after how many more of them it is made anew. */
const SAMPLES = 64;
const RENEW = 64;

/** How long the last runs of a name took. */
export class RunTimes {
  readonly #durations: number[] = [];
  #count = 0;
  #p95 = 0;
  #isCurrent = true;

  add(durationMs: number): void {
    this.#durations[this.#count % SAMPLES] = durationMs;
    if (++this.#count <= SAMPLES || this.#count % RENEW === 0) this.#isCurrent = false;
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
