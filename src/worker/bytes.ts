export interface ByteLimits {
  /** Most bytes of payload in play; null: no limit. */
  readonly maxInFlightBytes: number | null;
  /** Most bytes of payload claimed ahead; null: no limit. */
  readonly prefetchBytes: number | null;
}

/** How many bytes of payload a worker holds at once, and so how many tasks a claim may bring. */
export class ByteBudget {
  inPlay = 0;
  readonly isLimited: boolean;
  readonly #most: number;
  readonly #mostReady: number;
  /** Bytes a task had lately; 0 before the first one. */
  #mean = 0;

  constructor({ maxInFlightBytes, prefetchBytes }: ByteLimits) {
    this.isLimited = maxInFlightBytes !== null || prefetchBytes !== null;
    this.#most = maxInFlightBytes ?? Number.POSITIVE_INFINITY;
    this.#mostReady = prefetchBytes ?? Number.POSITIVE_INFINITY;
  }

  /** How many tasks of the usual size fit while `free` could start at once; one at least where none is in play. */
  room(free: number, readyBytes: number): number {
    if (this.#mean === 0) return free; // nothing ahead while nothing is known of their size
    const tasks = (bytes: number) => Math.max(0, Math.floor(bytes / this.#mean));
    const fitting = Math.min(tasks(this.#most - this.inPlay), free + tasks(this.#mostReady - readyBytes));
    return Math.max(fitting, this.inPlay === 0 ? 1 : 0);
  }

  /** Takes a task in if it fits. One fits always, or it could never run. */
  take(bytes: number): boolean {
    this.#mean = this.#mean === 0 ? bytes : this.#mean + (bytes - this.#mean) / 16;
    const fits = this.inPlay === 0 || this.inPlay + bytes <= this.#most;
    this.inPlay += bytes;
    return fits;
  }

  /** Whether what is ready is more than may be claimed ahead. */
  isOver(readyBytes: number): boolean {
    return readyBytes > this.#mostReady;
  }
}
