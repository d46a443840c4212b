import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { OpenWait } from "./open-wait.ts";

/** What an answer may take beyond the end of a wait that asked for it in time. */
export const GRACE_MS = 1000;
/** How long an answer is waited for; the next poll asks again. */
const ANSWER_MS = 10_000;

/** One request on its way for several waits. It is given up once all of them are closed. */
export class Trip {
  readonly call: OperationOptions;
  readonly #waits: Set<OpenWait>;
  readonly #abort = new AbortController();

  constructor(waits: Iterable<OpenWait>, nowMs: number) {
    this.#waits = new Set(waits);
    const leftMs = [...this.#waits].reduce((most, { pace }) => Math.max(most, pace.endMs - nowMs), 0);
    this.call = {
      signal: this.#abort.signal,
      deadlineMs: Date.now() + Math.min(ANSWER_MS, leftMs + GRACE_MS),
    };
  }

  leave(wait: OpenWait): void {
    if (this.#waits.delete(wait) && this.#waits.size === 0) this.#abort.abort();
  }
}
