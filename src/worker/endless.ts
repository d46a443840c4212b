import { monotonicMs } from "../core/clock.ts";
import { report, type WorkerHooks } from "./hooks.ts";
/** What makes a drain go on when nothing is due. */
export interface Endless {
  /** Aborts to stop: nothing is claimed any more, what has not started is released, and handlers may finish. */
  readonly signal: AbortSignal;
  /** How long handlers may go on after the stop before they are aborted, in milliseconds. */
  readonly graceMs: number;
  /**
   * Resolves when the queues should be looked at again: at `untilMs` (on the monotonic clock, `Infinity` if nothing is
   * queued, past if tasks are due that could not be claimed) at the latest, sooner on a signal that came since the last
   * wait began, or by polling. `wake` resolves when the drain does not want to know any more; then it should resolve, too.
   * `isUntold`: tasks wait for a fleet-wide limit, and no signal says that another worker has made room.
   */
  idle(untilMs: number, wake: Promise<void>, isUntold: boolean): Promise<void>;
}

/** Pause before the look that follows what was told first. A signal of new tasks comes sooner, and saves it. */
const SOON_MS = 10;

/** One wait for work at a time. */
export class Idle {
  readonly #endless: Endless;
  readonly #onDue: () => void;
  readonly #hooks: WorkerHooks;
  #end: (() => void) | null = null;
  #isShort = false;

  constructor(endless: Endless, onDue: () => void, hooks: WorkerHooks) {
    this.#endless = endless;
    this.#onDue = onDue;
    this.#hooks = hooks;
  }

  get isWaiting(): boolean {
    return this.#end !== null;
  }

  /** Ends the wait, and makes the next one a short one. */
  lookSoon(): true {
    this.cancel();
    this.#isShort = true;
    return true;
  }

  wait(untilMs: number, isUntold: boolean): void {
    let end = () => {};
    const wake = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#end = end;
    const latestMs = this.#isShort ? monotonicMs() + SOON_MS : Number.POSITIVE_INFINITY;
    void this.#wait(Math.min(untilMs, latestMs), wake, isUntold).then(() => {
      if (this.#end !== end) return;
      this.#end = null;
      this.#onDue();
    });
  }

  /** Ends the wait without a look: there is one anyway. */
  cancel(): void {
    this.#isShort = false;
    const end = this.#end;
    this.#end = null;
    end?.();
  }

  async #wait(untilMs: number, wake: Promise<void>, isUntold: boolean): Promise<void> {
    try {
      await this.#endless.idle(untilMs, wake, isUntold);
    } catch (error) {
      report(this.#hooks, error, "idle");
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}
