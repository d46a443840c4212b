import type { Registration } from "./registration.ts";

/** How many calls of one handler may run, and how many of its tasks are ready, running or unsettled. */
export class HandlerSlots {
  readonly registration: Registration;
  /** Most calls at once. */
  readonly maxCalls: number;
  /** Most tasks a call. */
  readonly batch: number;
  #calls = 0;
  #ready = 0;
  #hasRun = false;
  readonly #inFlight = new Map<string, number>();

  constructor(registration: Registration, slots: number) {
    this.registration = registration;
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
   * How long an attempt is expected to take, in milliseconds. A drain begins without an estimate: a name that was slow
   * once would never run again to improve it.
   */
  get needsMs(): number {
    return this.registration.maxRunMs ?? (this.#hasRun ? this.registration.runs.p95() : 0);
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
    this.#hasRun = true;
    this.registration.runs.add(durationMs);
  }
}
