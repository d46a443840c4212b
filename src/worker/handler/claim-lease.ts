/** The lease of all tasks of one claim: until when they belong to this worker, by the local clock. */
export class ClaimLease {
  /** The token of the claim. */
  readonly workerId: string;
  #endsAtMs: number;
  #tasks: number;

  /** `endsAtMs`: local estimate of when it ends, on the monotonic clock. `tasks`: how many are under it. */
  constructor(workerId: string, endsAtMs: number, tasks: number) {
    this.workerId = workerId;
    this.#endsAtMs = endsAtMs;
    this.#tasks = tasks;
  }

  /** Local estimate of when it ends, on the monotonic clock. */
  get endsAtMs(): number {
    return this.#endsAtMs;
  }

  /** The database has extended it: it ends at `endsAtMs`. */
  extend(endsAtMs: number): void {
    this.#endsAtMs = endsAtMs;
  }

  /** Takes it to end at `endsAtMs` at the latest, so that it is renewed sooner. */
  shorten(endsAtMs: number): void {
    this.#endsAtMs = Math.min(this.#endsAtMs, endsAtMs);
  }

  /** A task under it has ended. True if it was the last one. */
  taskEnded(): boolean {
    return --this.#tasks === 0;
  }
}
