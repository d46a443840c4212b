import type { Registration } from "./registration.ts";

/** The time of a drain, as its handlers see it. All times are on the monotonic clock. */
export interface AttemptTime {
  /** When handlers are stopped. */
  readonly stopAtMs: number;
  /** The longest time in milliseconds that an estimate counts for. */
  readonly longestEstimateMs: number;
  /** The longest run in milliseconds that a handler may declare. */
  readonly longestRunMs: number;
  /** Until handlers are stopped, in milliseconds. */
  leftMs(nowMs: number): number;
}

/** How many calls of one handler may run, and how many of its tasks are ready, running or unsettled. */
export class HandlerSlots {
  readonly registration: Registration;
  /** Most calls at once. */
  readonly maxCalls: number;
  /** Most tasks a call. */
  readonly batch: number;
  #calls = 0;
  #ready = 0;
  readonly #time: AttemptTime;
  readonly #inFlight = new Map<string, number>();

  constructor(registration: Registration, slots: number, time: AttemptTime) {
    this.registration = registration;
    this.#time = time;
    this.maxCalls = Math.min(registration.concurrency ?? slots, slots);
    this.batch = registration.batch ?? 1;
  }

  /** Calls that have not ended. */
  get calls(): number {
    return this.#calls;
  }

  /** Tasks in a ready queue. */
  get ready(): number {
    return this.#ready;
  }

  /** Tasks by queue that are claimed and not settled: names that have few go first. */
  get inFlight(): ReadonlyMap<string, number> {
    return this.#inFlight;
  }

  /**
   * How long an attempt is expected to take, in milliseconds: as long as declared, else as most of the last runs in
   * this worker took; 0 before the first one.
   */
  get needsMs(): number {
    const { maxRunMs, runs } = this.registration;
    return maxRunMs ?? Math.min(runs.p95(), this.#time.longestEstimateMs);
  }

  /** Whether an attempt that starts at `nowMs` is expected to end before handlers are stopped. */
  fits(nowMs: number): boolean {
    const { needsMs } = this;
    if (this.isTooLong) return false;
    return needsMs === 0 || needsMs <= this.#time.leftMs(nowMs);
  }

  /** Whether its declared run is longer than any that this drain has time for. */
  get isTooLong(): boolean {
    const { maxRunMs } = this.registration;
    return maxRunMs !== null && maxRunMs > this.#time.longestRunMs;
  }

  /** Tasks that its own limit would let start now, if there are slots. */
  get free(): number {
    return Math.max(0, this.maxCalls - this.#calls) * this.batch;
  }

  /** A task of `queue` was claimed. */
  claimed(queue: string): void {
    this.#inFlight.set(queue, (this.#inFlight.get(queue) ?? 0) + 1);
  }

  /** A task of `queue` is no longer in flight. */
  ended(queue: string): void {
    this.#inFlight.set(queue, this.#inFlight.get(queue)! - 1);
  }

  /** A task waits in a ready queue. */
  queued(): void {
    this.#ready++;
  }

  /** A task has left its ready queue. */
  dequeued(): void {
    this.#ready--;
  }

  /** A call begins. */
  beginCall(): void {
    this.#calls++;
  }

  /** A call has ended that took `durationMs`. */
  endCall(durationMs: number): void {
    this.#calls--;
    this.registration.runs.add(durationMs);
  }
}
