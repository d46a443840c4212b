import { NEVER } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { SettleResult } from "../../core/operations/settle.ts";
import type { Attempt } from "../handler/attempt.ts";

/** A claim for a retry goes out this much later: clocks have whole milliseconds, and the task must be due. */
const MARGIN_MS = 3;

/** When the retries of a short drain are due, so that it can wait for them before it ends. */
export class PendingRetries {
  #dueAtMs: number[] = [];

  /** Notes which of the settled attempts are retried, and have the time to run again, before `stopAtMs`. */
  add(attempts: readonly Attempt[], settled: readonly SettleResult[], stopAtMs: number): void {
    const nowMs = monotonicMs();
    for (const [i, { settlement, handler }] of attempts.entries()) {
      const { delayMs = 0 } = (settlement ?? {}) as { readonly delayMs?: number };
      const atMs = nowMs + delayMs + MARGIN_MS;
      if (settled[i]!.status === "queued" && delayMs > 0 && atMs + handler.needsMs < stopAtMs)
        this.#dueAtMs.push(atMs);
    }
  }

  /** When the first of them is due; `Infinity` if there is none. */
  get nextAtMs(): number {
    let at = NEVER;
    for (const atMs of this.#dueAtMs) at = Math.min(at, atMs);
    return at;
  }

  /** Forgets those that are due: a claim goes out that finds them. */
  claimed(nowMs: number): void {
    if (this.#dueAtMs.length > 0) this.#dueAtMs = this.#dueAtMs.filter((atMs) => atMs > nowMs);
  }
}
