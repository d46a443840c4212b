/** Plans when a drain polls for tasks. */

import { NEVER } from "../../core/infinity.ts";

export interface PollOptions {
  /** First pause between two polls in milliseconds. */
  readonly firstMs: number;
  /** Longest pause in milliseconds, up to which pauses grow while nothing is found. */
  readonly maxMs: number;
  /** Factor by which each pause is longer than the one before. */
  readonly growth: number;
  /** Pause in milliseconds while the database announces new tasks; `Infinity`: no polls. */
  readonly announcedMs: number;
  /** Whether the database announces new tasks at present. */
  readonly isAnnounced: () => boolean;
}

/** First pause while tasks are due that could not be claimed. */
const DUE_POLL_MS = 50;
/** Delay before the next poll after a settlement was sent alone; a notification ends it early. */
const SOON_MS = 10;

/** Polls find the tasks that no notification has announced. They are planned while slots are free. */
export class PollSchedule {
  readonly #options: PollOptions;
  #atMs = NEVER;
  #pauseMs: number;
  #duePauseMs = DUE_POLL_MS;
  #isSoon = false;

  constructor(options: PollOptions) {
    this.#options = options;
    this.#pauseMs = options.firstMs;
  }

  /** When the next poll is due; `Infinity` while none is planned. */
  get atMs(): number {
    return this.#atMs;
  }

  /**
   * Plans the next poll, unless one is planned: at `dueAtMs` at the latest, when the next task is known to be due. If
   * that is past, tasks are due that could not be claimed: other workers hold them, or their names have no slot.
   * `needsPolling`: the drain waits for something that the database never announces.
   */
  plan(nowMs: number, dueAtMs: number, needsPolling: boolean): void {
    if (this.#atMs !== NEVER) return;
    const dueInMs = dueAtMs - nowMs;
    const pauseMs = this.#pause(dueInMs <= 0, needsPolling);
    const latestMs = Math.min(dueInMs > 0 ? dueInMs : NEVER, this.#isSoon ? SOON_MS : NEVER);
    this.#atMs = nowMs + Math.min(pauseMs, latestMs);
  }

  /** Drops the planned poll: a claim goes out now. */
  cancel(): void {
    this.#isSoon = false;
    this.#atMs = NEVER;
  }

  /** Makes the next pause a short one. */
  soon(): void {
    this.cancel();
    this.#isSoon = true;
  }

  /** A claim brought tasks. There may be more, so the pauses are short again. */
  found(): void {
    this.#pauseMs = this.#options.firstMs;
    this.#duePauseMs = DUE_POLL_MS;
  }

  /** The jitter keeps the workers of a fleet from polling at the same moment. */
  #pause(isDue: boolean, needsPolling: boolean): number {
    const { firstMs, maxMs, growth, announcedMs, isAnnounced } = this.#options;
    const jitter = 0.75 + Math.random() / 2;
    if (isDue) {
      const pauseMs = Math.min(this.#duePauseMs, maxMs);
      this.#duePauseMs = pauseMs * 2;
      return pauseMs * jitter;
    }
    const pauseMs = isAnnounced() && !needsPolling ? Math.max(announcedMs, maxMs) : this.#pauseMs;
    this.#pauseMs = Math.max(firstMs, Math.min(maxMs, this.#pauseMs * growth));
    return pauseMs * jitter;
  }
}
