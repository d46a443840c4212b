/** A request that several waits share, and when it is aborted. */
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { PendingWait } from "./pending-wait.ts";

/** Extra time for the answer to a request that was sent before the time of its wait was up. */
export const GRACE_MS = 1000;
/** How long an answer is waited for; then the next poll asks again. */
const ANSWER_MS = 10_000;

/** One request in flight for several waits. It is aborted once all of them are closed. */
export class SharedRequest {
  readonly call: OperationOptions;
  readonly #waits: Set<PendingWait>;
  readonly #abort = new AbortController();

  constructor(waits: Iterable<PendingWait>, nowMs: number) {
    this.#waits = new Set(waits);
    const leftMs = [...this.#waits].reduce((most, { pace }) => Math.max(most, pace.endMs - nowMs), 0);
    this.call = {
      signal: this.#abort.signal,
      deadlineMs: Date.now() + Math.min(ANSWER_MS, leftMs + GRACE_MS),
    };
  }

  /** The wait is closed. */
  leave(wait: PendingWait): void {
    if (this.#waits.delete(wait) && this.#waits.size === 0) this.#abort.abort();
  }
}
