import { MAX_TIMER_MS } from "../core/arguments.ts";
import { sleep } from "../core/backoff.ts";

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
/** Pause while the database tells of new tasks. A notification can be lost without anybody noticing. */
const SAFETY_POLL_MS = 30_000;

/** Waits for the moment at which a worker with free slots should look for due tasks again. */
export class IdleWait {
  readonly #options: IdleOptions;
  #pauseMs: number;
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

  /** Waits until `untilMs` (epoch milliseconds) at the latest, and no longer than `over` takes to resolve. */
  async wait(untilMs: number, over: Promise<void>): Promise<void> {
    const pauseMs = this.#pause();
    if (!this.#isTold) {
      const told = new Promise<void>((resolve) => {
        this.#end = resolve;
      });
      const leftMs = Math.min(pauseMs, untilMs - Date.now(), MAX_TIMER_MS);
      await sleep(Math.max(0, leftMs), undefined, Promise.race([told, over]));
    }
    this.#isTold = false;
  }

  /** The jitter keeps the workers of a fleet from looking at one moment. */
  #pause(): number {
    const { pollMs, maxPollMs, isPushed, claimed } = this.#options;
    const count = claimed();
    if (count > this.#claimedBefore) this.#pauseMs = pollMs;
    this.#claimedBefore = count;
    const pauseMs = isPushed() ? Math.max(SAFETY_POLL_MS, maxPollMs) : this.#pauseMs;
    this.#pauseMs = Math.max(pollMs, Math.min(maxPollMs, this.#pauseMs * GROWTH));
    return pauseMs * (0.75 + Math.random() / 2);
  }
}
