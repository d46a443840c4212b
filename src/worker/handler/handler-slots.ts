import type { Registration } from "./registration.ts";

/** How many calls of one handler may run, and how many of its tasks are ready, running or unsettled. */
export class HandlerSlots {
  readonly registration: Registration;
  /** Most calls at once. */
  readonly maxCalls: number;
  /** Most tasks a call. */
  readonly batch: number;
  calls = 0;
  /** Tasks that are claimed and not started. */
  ready = 0;
  /** Whether an attempt has ended in this drain. */
  hasRun = false;
  /** Tasks by queue that are claimed and not settled: names that have few go first. */
  readonly inPlay = new Map<string, number>();

  constructor(registration: Registration, slots: number) {
    this.registration = registration;
    this.maxCalls = Math.min(registration.concurrency ?? slots, slots);
    this.batch = registration.batch ?? 1;
  }

  /**
   * How long an attempt is expected to take, in milliseconds. A drain begins without an estimate: a name that was slow
   * once would never run again to improve it.
   */
  get needsMs(): number {
    return this.registration.maxRunMs ?? (this.hasRun ? this.registration.runs.p95() : 0);
  }

  /** Tasks that its own limit would let start now, if there are slots. */
  get free(): number {
    return Math.max(0, this.maxCalls - this.calls) * this.batch;
  }

  add(queue: string, count: number): void {
    this.inPlay.set(queue, (this.inPlay.get(queue) ?? 0) + count);
  }
}
