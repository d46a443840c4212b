export interface ByteLimits {
  /** Most bytes of payload in play; null: no limit. */
  readonly maxInFlightBytes: number | null;
  /** Most bytes of payload claimed ahead; null: no limit. */
  readonly prefetchBytes: number | null;
}

/** How many bytes of payload a worker holds at once, and so how many tasks a claim may bring. */
export class ByteBudget {
  inPlay = 0;
  /** Those of them that are claimed and not started. */
  ready = 0;
  readonly isLimited: boolean;
  readonly #most: number;
  readonly #mostReady: number;
  /** Bytes a task had lately; 0 before the first one. */
  #mean = 0;
  /** Whether the last claim brought more than may be in play, and no task has ended since. */
  #isFull = false;
  /** Whether the last claim brought more than may wait, and none has started or ended since. */
  #isReadyFull = false;

  constructor({ maxInFlightBytes, prefetchBytes }: ByteLimits) {
    this.isLimited = maxInFlightBytes !== null || prefetchBytes !== null;
    this.#most = maxInFlightBytes ?? Number.POSITIVE_INFINITY;
    this.#mostReady = prefetchBytes ?? Number.POSITIVE_INFINITY;
  }

  /** How many tasks of the usual size may be claimed ahead; none while nothing is known of their size. */
  get ahead(): number {
    if (!this.isLimited) return Number.POSITIVE_INFINITY;
    return this.#mean === 0 || this.#isReadyFull ? 0 : this.#tasks(this.#mostReady - this.ready);
  }

  /** How many of them fit while `open` could start at once; one at least where none is in play. */
  room(open: number): number {
    if (this.#mean === 0) return open;
    const fitting = this.#isFull ? 0 : Math.min(this.#tasks(this.#most - this.inPlay), open + this.ahead);
    return Math.max(fitting, this.inPlay === 0 ? 1 : 0);
  }

  #tasks(bytes: number): number {
    return Math.max(0, Math.floor(bytes / this.#mean));
  }

  /** Takes a task in if it fits. One fits always, or it could never run. */
  take(bytes: number): boolean {
    this.#mean = this.#mean === 0 ? bytes : this.#mean + (bytes - this.#mean) / 16;
    const fits = this.inPlay === 0 || this.inPlay + bytes <= this.#most;
    this.inPlay += bytes;
    return fits;
  }

  /**
   * A task is handed back for want of room, in play or ahead. The next claim would only bring it again, so that one
   * waits until there is more room.
   */
  handedBack(from: "play" | "ready"): void {
    if (from === "play") this.#isFull = true;
    else this.#isReadyFull = true;
  }

  /** A task that waited has started. */
  started(): void {
    this.#isReadyFull = false;
  }

  /** A task is not in play any more. */
  ended(bytes: number): void {
    this.inPlay -= bytes;
    this.#isFull = false;
    this.#isReadyFull = false;
  }

  /** Whether what waits is more than may be claimed ahead. */
  get isOver(): boolean {
    return this.ready > this.#mostReady;
  }
}
