/**
 * Forecasts how many tasks of a pool start while a round trip is in flight, from how many did during the last ones.
 * That many are worth claiming ahead of the free slots, and their starts are announced together.
 */
export class StartForecast {
  readonly #prefetch: number;
  readonly #minWindow: number;
  #window: number;
  #lowWater: number;
  #duringTrip = 0;
  #started = 0;
  /** Tasks started when the last window was computed. */
  #startedAtWindow = 0;
  /** Tasks started, and tasks ready, when the last claim was sent. */
  #startedAtClaim = 0;
  #readyAtClaim = 0;

  /** `capacity`: tasks that all slots of the pool hold. */
  constructor(prefetch: number, capacity: number) {
    this.#prefetch = prefetch;
    this.#lowWater = Math.floor(prefetch / 2);
    this.#minWindow = Math.max(8, capacity);
    this.#window = this.#minWindow;
  }

  /** Tasks that may start before more starts are announced. */
  get window(): number {
    return this.#window;
  }

  /** A claim is worth a round trip once no more tasks than this are ready. */
  get lowWater(): number {
    return this.#lowWater;
  }

  /** Tasks that are expected to start while a claim is in flight. */
  get duringTrip(): number {
    return this.#duringTrip;
  }

  started(count: number): void {
    this.#started += count;
  }

  /**
   * Computes the window of the round trip that is composed now: three times the starts since the last one, and 32
   * times the last window if it was too small (`wasExhausted`). It shrinks slowly.
   */
  nextWindow(wasExhausted: boolean): number {
    const recent = 3 * (this.#started - this.#startedAtWindow);
    const shrunk = this.#window - (this.#window >> 5);
    this.#window = wasExhausted
      ? Math.min(this.#minWindow + this.#prefetch, 32 * this.#window)
      : Math.max(this.#minWindow, recent, shrunk);
    this.#startedAtWindow = this.#started;
    return this.#window;
  }

  claimSent(ready: number): void {
    this.#startedAtClaim = this.#started;
    this.#readyAtClaim = ready;
  }

  /** Call it before the claimed tasks are added to the `ready` ones. */
  claimAnswered(ready: number): void {
    const started = this.#started - this.#startedAtClaim;
    const hadReady = this.#readyAtClaim > 0;
    const isExhausted = ready === 0;
    // If all ready tasks have started, more might have. If all of them do again, the next claim goes out at once.
    if (hadReady) this.#duringTrip = isExhausted ? Math.max(this.#duringTrip, started) : started;
    const needed = isExhausted ? Math.max(8, (hadReady ? 2 : 1) * this.#lowWater) : 2 * this.#duringTrip;
    this.#lowWater = Math.min(this.#prefetch, needed);
  }
}
