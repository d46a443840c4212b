import { monotonicMs } from "../../core/clock.ts";
import type { ClaimResult } from "../../core/operations/claim-result.ts";
import type { SettleResult } from "../../core/operations/settle.ts";
import type { Attempt } from "../handler/attempt.ts";

const NEVER = Number.POSITIVE_INFINITY;
/** Clocks have whole milliseconds: a retry is looked for a little later, so that it is due. */
const LATE_MS = 3;

/** What a drain knows of the tasks it does not hold: what the last claim said, and whether that is still so. */
export class Outlook {
  #next: Pick<ClaimResult, "nextDueAtMs" | "nowMs" | "limited"> = {
    nextDueAtMs: null,
    nowMs: 0,
    limited: false,
  };
  /** When the last claim was answered. */
  #atMs = 0;
  /** What has changed what a claim would say. The first claim is the first change. */
  #changes = 1;
  /** Changes that the last answer knew of. */
  #seen = 0;
  /** When retries of this drain are due. */
  #retries: number[] = [];

  /** Something else than the settlements of a cycle has changed which tasks are queued or running. */
  changed(): void {
    this.#changes++;
  }

  /** For `learn`, once the claim that is composed now is answered: it sees all changes so far. */
  get version(): number {
    return this.#changes;
  }

  learn(claimed: ClaimResult, version: number): void {
    this.#next = claimed;
    this.#seen = version;
    this.#atMs = monotonicMs();
  }

  /** Whether nothing has changed since the last claim that this process knows of. */
  get isPresent(): boolean {
    return this.#seen === this.#changes;
  }

  /** Whether tasks of the lanes wait for fleet-wide limits. */
  get limited(): boolean {
    return this.#next.limited;
  }

  /** When the next task is due by the monotonic clock; `Infinity` if none is queued. */
  get dueAtMs(): number {
    const { nextDueAtMs, nowMs } = this.#next;
    return nextDueAtMs === null ? NEVER : this.#atMs + (nextDueAtMs - nowMs);
  }

  /** For the summary. Where the present is not known there may be more, now. */
  next(nowMs: number): Pick<ClaimResult, "nextDueAtMs" | "nowMs"> {
    const databaseMs =
      this.#next.nowMs === 0 ? Date.now() : this.#next.nowMs + Math.max(0, nowMs - this.#atMs);
    return this.isPresent ? this.#next : { nextDueAtMs: databaseMs, nowMs: databaseMs };
  }

  /** What the last claim said. */
  get last(): Pick<ClaimResult, "nextDueAtMs" | "nowMs"> {
    return this.#next;
  }

  /** Remembers the retries that are due, and have time to run, before `stopAtMs`. */
  settled(attempts: readonly Attempt[], settled: readonly SettleResult[], stopAtMs: number): void {
    const nowMs = monotonicMs();
    for (const [i, { settlement, member }] of attempts.entries()) {
      const { delayMs = 0 } = (settlement ?? {}) as { readonly delayMs?: number };
      const atMs = nowMs + delayMs + LATE_MS;
      if (settled[i]!.status === "queued" && delayMs > 0 && atMs + member.needsMs < stopAtMs)
        this.#retries.push(atMs);
    }
  }

  /** When the first of them is due; `Infinity` if there is none. */
  get retryAtMs(): number {
    let at = NEVER;
    for (const atMs of this.#retries) at = Math.min(at, atMs);
    return at;
  }

  /** A claim goes out: it finds those that are due. */
  passRetries(nowMs: number): void {
    if (this.#retries.length > 0) this.#retries = this.#retries.filter((atMs) => atMs > nowMs);
  }
}
