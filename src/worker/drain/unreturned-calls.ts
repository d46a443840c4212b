import type { Attempt } from "../handler/attempt.ts";

/**
 * Calls of a worker that go on although their attempts have ended, and the tasks that must not start before they
 * return. All drains of a worker share it.
 */
export class UnreturnedCalls {
  readonly #retriesByAttempt = new Map<Attempt, (() => void)[]>();

  /** The attempt has ended, and its call goes on. */
  add(attempt: Attempt): void {
    this.#retriesByAttempt.set(attempt, []);
  }

  /** The call of `attempt` has returned or was cut off. */
  remove(attempt: Attempt): void {
    const retries = this.#retriesByAttempt.get(attempt);
    if (retries === undefined) return;
    this.#retriesByAttempt.delete(attempt);
    for (const retry of retries) retry();
  }

  /**
   * Whether `attempt` must not start yet: a call still works on the same task, or on one with the same fleet-wide
   * limit, whose place in the limit is free in the database although the call goes on. `retry` is called once that
   * call returns.
   */
  blocks(attempt: Attempt, retry: () => void): boolean {
    if (this.#retriesByAttempt.size === 0) return false;
    for (const [ended, retries] of this.#retriesByAttempt) {
      const isSameTask = ended.id === attempt.id;
      const isInItsPlace =
        attempt.limitKey !== "" && ended.limitKey === attempt.limitKey && retries.length === 0;
      if (!isSameTask && !isInItsPlace) continue;
      retries.push(retry);
      return true;
    }
    return false;
  }
}
