import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { Attempt } from "../handler/attempt.ts";

/** Attempts that have ended and wait for a round trip that settles them. */
export class Outbox {
  #attempts: Attempt[] = [];
  #sinceMs = 0;

  get length(): number {
    return this.#attempts.length;
  }

  /** When the first of them ended, on the monotonic clock. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  add(attempt: Attempt): void {
    if (this.#attempts.push(attempt) === 1) this.#sinceMs = monotonicMs();
  }

  /** Empties it into a settlement. */
  take(): Attempt[] {
    const attempts = this.#attempts;
    this.#attempts = [];
    return attempts;
  }

  some(matches: (attempt: Attempt) => boolean): boolean {
    return this.#attempts.some(matches);
  }
}
