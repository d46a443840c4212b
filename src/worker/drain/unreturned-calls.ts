import type { Attempt } from "../handler/attempt.ts";

/** Attempts of a worker that have ended while the calls of their handlers go on, and what has to wait for those. */
export class Unreturned {
  readonly #waiting = new Map<Attempt, (() => void)[]>();

  add(attempt: Attempt): void {
    this.#waiting.set(attempt, []);
  }

  /**
   * Whether `attempt` may not start yet: a call still works on the same task, or holds the place of a task under the
   * same fleet-wide limit, whose row is not running any more. `retry` is called when that call has returned.
   */
  delays(attempt: Attempt, retry: () => void): boolean {
    if (this.#waiting.size === 0) return false;
    for (const [before, waiting] of this.#waiting) {
      const isSameTask = before.id === attempt.id;
      const isInItsPlace =
        attempt.limitKey !== "" && before.limitKey === attempt.limitKey && waiting.length === 0;
      if (!isSameTask && !isInItsPlace) continue;
      waiting.push(retry);
      return true;
    }
    return false;
  }

  /** The call of `attempt` has returned or was given up. */
  remove(attempt: Attempt): void {
    const waiting = this.#waiting.get(attempt);
    if (waiting === undefined) return;
    this.#waiting.delete(attempt);
    for (const retry of waiting) retry();
  }
}

/** Claimed tasks of one drain that may not start before a call returns. */
export class Behind {
  readonly #unreturned: Unreturned;
  readonly #onFree: (attempt: Attempt) => void;
  readonly #attempts = new Set<Attempt>();

  /** `onFree` is called with an attempt that may start now. */
  constructor(unreturned: Unreturned, onFree: (attempt: Attempt) => void) {
    this.#unreturned = unreturned;
    this.#onFree = onFree;
  }

  /** Takes the attempt in if it has to wait. */
  takes(attempt: Attempt): boolean {
    const retry = () => {
      if (this.#attempts.delete(attempt) && !this.takes(attempt)) this.#onFree(attempt);
    };
    if (!this.#unreturned.delays(attempt, retry)) return false;
    this.#attempts.add(attempt);
    return true;
  }

  get size(): number {
    return this.#attempts.size;
  }

  takeAll(which: (attempt: Attempt) => boolean = () => true): Attempt[] {
    const taken = [...this.#attempts].filter(which);
    for (const attempt of taken) this.#attempts.delete(attempt);
    return taken;
  }

  [Symbol.iterator](): IterableIterator<Attempt> {
    return this.#attempts.values();
  }
}
