import { MAX_TIMER_MS } from "../core/arguments.ts";
import { sleep } from "../core/backoff.ts";
import { monotonicMs } from "../core/clock.ts";

export interface IdleOptions {
  /** First pause between two looks in milliseconds. */
  readonly pollMs: number;
  /** Longest pause, towards which it grows while nothing is found. */
  readonly maxPollMs: number;
  /** Whether the database itself tells of new tasks at present, so that polling is for safety alone. */
  readonly isPushed: () => boolean;
  /** How many tasks were claimed so far. */
  readonly claimed: () => number;
}

const GROWTH = 1.5;
/** First pause while tasks are due that could not be claimed. */
const DUE_POLL_MS = 50;
/** Pause while the database tells of new tasks. A notification can be lost without anybody noticing. */
const SAFETY_POLL_MS = 30_000;

/** Waits for the moment at which a worker with free slots should look for due tasks again. */
export class IdleWait {
  readonly #options: IdleOptions;
  #pauseMs: number;
  #duePauseMs = DUE_POLL_MS;
  #claimedBefore = 0;
  /** Told while nobody waited. */
  #isTold = false;
  #end: () => void = () => {};

  constructor(options: IdleOptions) {
    this.#options = options;
    this.#pauseMs = options.pollMs;
  }

  /** Ends the wait, or the next one if there is none: somebody knows of a new task. */
  readonly tell = (): void => {
    this.#isTold = true;
    this.#end();
  };

  /**
   * Waits until `untilMs` (on the monotonic clock) at the latest, and no longer than `over` takes to resolve. A time that is
   * past means that tasks are due which could not be claimed: others have them in hand, or their names have no slot.
   * What `isUntold` waits for something that the database never tells of.
   */
  async wait(untilMs: number, over: Promise<void>, isUntold = false): Promise<void> {
    const dueInMs = untilMs - monotonicMs();
    const pauseMs = this.#pause(dueInMs <= 0, isUntold);
    if (!this.#isTold) {
      const told = new Promise<void>((resolve) => {
        this.#end = resolve;
      });
      const leftMs = Math.min(pauseMs, dueInMs > 0 ? dueInMs : pauseMs, MAX_TIMER_MS);
      await sleep(leftMs, undefined, Promise.race([told, over]));
    }
    this.#isTold = false;
  }

  /** The jitter keeps the workers of a fleet from looking at one moment. */
  #pause(isDue: boolean, isUntold: boolean): number {
    const { pollMs, maxPollMs, isPushed, claimed } = this.#options;
    const count = claimed();
    if (count > this.#claimedBefore) {
      this.#pauseMs = pollMs;
      this.#duePauseMs = DUE_POLL_MS;
    }
    this.#claimedBefore = count;
    const jitter = 0.75 + Math.random() / 2;
    if (isDue) {
      const pauseMs = Math.min(this.#duePauseMs, maxPollMs);
      this.#duePauseMs = pauseMs * 2;
      return pauseMs * jitter;
    }
    const pauseMs = isPushed() && !isUntold ? Math.max(SAFETY_POLL_MS, maxPollMs) : this.#pauseMs;
    this.#pauseMs = Math.max(pollMs, Math.min(maxPollMs, this.#pauseMs * GROWTH));
    return pauseMs * jitter;
  }
}
