/** Limits how many bytes of payload a worker holds. */

import { NO_LIMIT } from "../../core/infinity.ts";

export interface ByteLimits {
  /** Most bytes of payload in flight: of all tasks that are claimed and have not ended. Null: no limit. */
  readonly maxInFlightBytes: number | null;
  /** Most bytes of payload claimed ahead of the free slots. Null: no limit. */
  readonly prefetchBytes: number | null;
}

/** Counts the bytes of payload that a worker holds, and from them how many tasks a claim may bring. */
export class ByteBudget {
  readonly isLimited: boolean;
  readonly #maxInFlight: number;
  readonly #maxReady: number;
  #inFlight = 0;
  /** Bytes of the tasks in flight that have not started. */
  #ready = 0;
  /** Moving average of the bytes of a task; 0 before the first one. */
  #mean = 0;
  /** Whether a task was released because too much was in flight, and none has ended since. */
  #isFull = false;
  /** Whether a task was released because too much was ready, and none has started or ended since. */
  #isReadyFull = false;

  constructor({ maxInFlightBytes, prefetchBytes }: ByteLimits) {
    this.isLimited = maxInFlightBytes !== null || prefetchBytes !== null;
    this.#maxInFlight = maxInFlightBytes ?? NO_LIMIT;
    this.#maxReady = prefetchBytes ?? NO_LIMIT;
  }

  /** How many tasks of average size may be claimed ahead; 0 while their size is unknown. */
  get ahead(): number {
    if (!this.isLimited) return NO_LIMIT;
    return this.#mean === 0 || this.#isReadyFull ? 0 : this.#tasksIn(this.#maxReady - this.#ready);
  }

  /** How many tasks a claim may bring while `open` could start at once; at least one if none is in flight. */
  room(open: number): number {
    if (this.#mean === 0) return open;
    const fitting = this.#tasksIn(this.#maxInFlight - this.#inFlight);
    const room = this.#isFull ? 0 : Math.min(fitting, open + this.ahead);
    return Math.max(room, this.#inFlight === 0 ? 1 : 0);
  }

  #tasksIn(bytes: number): number {
    return Math.max(0, Math.floor(bytes / this.#mean));
  }

  /** Counts a claimed task. Returns whether it fits; a task always fits alone, or it could never run. */
  claimed(bytes: number): boolean {
    this.#mean = this.#mean === 0 ? bytes : this.#mean + (bytes - this.#mean) / 16;
    const fits = this.#inFlight === 0 || this.#inFlight + bytes <= this.#maxInFlight;
    this.#inFlight += bytes;
    return fits;
  }

  /** A task waits in a ready queue. */
  queued(bytes: number): void {
    this.#ready += bytes;
  }

  /** A task has left its ready queue, to start or to be released. */
  dequeued(bytes: number): void {
    this.#ready -= bytes;
  }

  /**
   * A claimed task is released because it does not fit: the next claim would bring it again, so none goes out before
   * there is room.
   */
  overflowed(): void {
    this.#isFull = true;
  }

  /** The same, because too many bytes are ready. */
  readyOverflowed(): void {
    this.#isReadyFull = true;
  }

  /** A ready task has started. */
  started(): void {
    this.#isReadyFull = false;
  }

  /** A task is no longer in flight. */
  ended(bytes: number): void {
    this.#inFlight -= bytes;
    this.#isFull = false;
    this.#isReadyFull = false;
  }

  /** Whether more bytes are ready than may be claimed ahead. */
  get isReadyOver(): boolean {
    return this.#ready > this.#maxReady;
  }
}
