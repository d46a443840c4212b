/** What a drain knows about the tasks that it does not hold. */

import { NEVER } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { ClaimResult } from "../../core/operations/claim-result.ts";

/** When the next task is due, by the database's clock, and the time of that clock then; both in epoch milliseconds. */
export type NextDue = Pick<ClaimResult, "nextDueAtMs" | "nowMs">;

/** What the last claim reported about tasks that the drain does not hold, and whether anything has changed since. */
export class QueueSnapshot {
  #next: NextDue & Pick<ClaimResult, "limited"> = { nextDueAtMs: null, nowMs: 0, limited: false };
  /** When the last claim was answered. */
  #takenAtMs = 0;
  /** Number of changes so far. Before the first claim there is one. */
  #version = 1;
  /** The version that the last claim saw. */
  #seenVersion = 0;

  /**
   * Which tasks are queued or running has changed, other than by a settlement that shared its round trip with a
   * claim.
   */
  invalidate(): void {
    this.#version++;
  }

  /** Pass it to `update` with the answer of the claim that is composed now: that claim sees all changes so far. */
  get version(): number {
    return this.#version;
  }

  update(claimed: ClaimResult, version: number): void {
    this.#next = claimed;
    this.#seenVersion = version;
    this.#takenAtMs = monotonicMs();
  }

  /** Whether this process knows of no change since the last claim. */
  get isCurrent(): boolean {
    return this.#seenVersion === this.#version;
  }

  /** Whether due tasks wait for fleet-wide limits. */
  get limited(): boolean {
    return this.#next.limited;
  }

  /** When the next task is due, on the monotonic clock; `Infinity` if none is queued. */
  get dueAtMs(): number {
    const { nextDueAtMs, nowMs } = this.#next;
    return nextDueAtMs === null ? NEVER : this.#takenAtMs + (nextDueAtMs - nowMs);
  }

  /** What the last claim reported. */
  get last(): NextDue {
    return this.#next;
  }

  /** What is known at `nowMs`. If the snapshot is not current, tasks may be due now. */
  at(nowMs: number): NextDue {
    if (this.isCurrent) return this.#next;
    const databaseMs =
      this.#next.nowMs === 0 ? Date.now() : this.#next.nowMs + Math.max(0, nowMs - this.#takenAtMs);
    return { nextDueAtMs: databaseMs, nowMs: databaseMs };
  }
}
