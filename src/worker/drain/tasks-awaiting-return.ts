import type { Attempt } from "../handler/attempt.ts";
import type { UnreturnedCalls } from "./unreturned-calls.ts";

/** Claimed tasks of a drain that must not start before an unreturned call returns. */
export class TasksAwaitingReturn {
  readonly #unreturned: UnreturnedCalls;
  readonly #onFree: (attempt: Attempt) => void;
  readonly #attempts = new Set<Attempt>();

  /** `onFree` is called with an attempt that may start now. */
  constructor(unreturned: UnreturnedCalls, onFree: (attempt: Attempt) => void) {
    this.#unreturned = unreturned;
    this.#onFree = onFree;
  }

  /** Adds the attempt if an unreturned call blocks it, and returns whether one does. */
  addIfBlocked(attempt: Attempt): boolean {
    const retry = () => {
      if (this.#attempts.delete(attempt) && !this.addIfBlocked(attempt)) this.#onFree(attempt);
    };
    if (!this.#unreturned.blocks(attempt, retry)) return false;
    this.#attempts.add(attempt);
    return true;
  }

  get size(): number {
    return this.#attempts.size;
  }

  takeAll(matches: (attempt: Attempt) => boolean): Attempt[] {
    const taken = [...this.#attempts].filter(matches);
    for (const attempt of taken) this.#attempts.delete(attempt);
    return taken;
  }

  [Symbol.iterator](): IterableIterator<Attempt> {
    return this.#attempts.values();
  }
}
