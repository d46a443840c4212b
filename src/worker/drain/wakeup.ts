import { NEVER } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";

/** Lets one loop wait until a time, or until `wake` is called. */
export class Wakeup {
  #resolve: (() => void) | null = null;
  /** Whether it was woken while the loop did not wait. */
  #isDue = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAtMs = NEVER;

  readonly wake = (): void => {
    if (this.#resolve === null) this.#isDue = true;
    else this.#resolve();
    this.#resolve = null;
  };

  /**
   * Resolves when it is woken or at `atMs`. It may resolve sooner: an earlier timer is kept, since a new one costs
   * more.
   */
  until(atMs: number): Promise<void> {
    if (this.#isDue) {
      this.#isDue = false;
      return Promise.resolve();
    }
    if (atMs < this.#timerAtMs) this.#set(atMs);
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = NEVER;
  }

  #set(atMs: number): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    const fire = () => {
      this.#timerAtMs = NEVER;
      this.wake();
    };
    this.#timer = setTimeout(fire, Math.min(Math.max(0, atMs - monotonicMs()), MAX_TIMER_MS));
  }
}
