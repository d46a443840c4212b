const NEVER = Number.POSITIVE_INFINITY;

export interface PollOptions {
  /** First pause between two polls in milliseconds. */
  readonly firstMs: number;
  /** Longest pause, towards which it grows while nothing is found. */
  readonly maxMs: number;
  /** By how much each pause is longer than the one before. */
  readonly growth: number;
  /** Pause while the database announces new tasks; `Infinity`: no polls. */
  readonly announcedMs: number;
  /** Whether the database announces new tasks at present. */
  readonly isAnnounced: () => boolean;
}

/** First pause while tasks are due that could not be claimed. */
const DUE_POLL_MS = 50;
/** Pause before the poll that follows a settlement sent alone. News of tasks comes sooner, and saves it. */
const SOON_MS = 10;

/** When a drain with free slots polls for tasks that nothing has announced. */
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
   * Plans the next poll, unless one is planned: at `untilMs` at the latest, which is when a task is known to be due. A time
   * that is past means that tasks are due which could not be claimed: other workers hold them, or their names have no
   * slot. `isUnannounced`: it waits for something that the database never announces.
   */
  plan(nowMs: number, untilMs: number, isUnannounced: boolean): void {
    if (this.#atMs !== NEVER) return;
    const dueInMs = untilMs - nowMs;
    const pauseMs = this.#pause(dueInMs <= 0, isUnannounced);
    const latestMs = Math.min(dueInMs > 0 ? dueInMs : NEVER, this.#isSoon ? SOON_MS : NEVER);
    this.#atMs = nowMs + Math.min(pauseMs, latestMs);
  }

  /** Drops the poll that is planned: a claim goes out anyway. */
  cancel(): void {
    this.#isSoon = false;
    this.#atMs = NEVER;
  }

  /** Makes the next pause a short one. */
  soon(): void {
    this.cancel();
    this.#isSoon = true;
  }

  /** A claim brought tasks: there may be more, so pauses begin anew. */
  found(): void {
    this.#pauseMs = this.#options.firstMs;
    this.#duePauseMs = DUE_POLL_MS;
  }

  /** The jitter keeps the workers of a fleet from polling at one moment. */
  #pause(isDue: boolean, isUnannounced: boolean): number {
    const { firstMs, maxMs, growth, announcedMs, isAnnounced } = this.#options;
    const jitter = 0.75 + Math.random() / 2;
    if (isDue) {
      const pauseMs = Math.min(this.#duePauseMs, maxMs);
      this.#duePauseMs = pauseMs * 2;
      return pauseMs * jitter;
    }
    const pauseMs = isAnnounced() && !isUnannounced ? Math.max(announcedMs, maxMs) : this.#pauseMs;
    this.#pauseMs = Math.max(firstMs, Math.min(maxMs, this.#pauseMs * growth));
    return pauseMs * jitter;
  }
}
