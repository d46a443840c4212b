/** The cycles of a drain: round trips that settle what has ended and claim for free slots. */

import type { ClaimRequest } from "../../core/operations/claim.ts";
import type { ClaimResult } from "../../core/operations/claim-result.ts";
import type { SettleResult } from "../../core/operations/settle.ts";
import type { Attempt } from "../handler/attempt.ts";
import type { DrainParts } from "./drain-parts.ts";

/** The content of a round trip that settles and claims. */
export interface Cycle {
  readonly attempts: readonly Attempt[];
  /** Attempts whose starts it announces. */
  readonly starts: readonly Attempt[];
  /** Null: it only settles. */
  readonly request: ClaimRequest | null;
  /** The version of the queue snapshot when it was composed. */
  readonly version: number;
  /** When it was composed: no lease of its claim ends later than counted from here. */
  readonly sentAtMs: number;
  /** Whether it was sent before and may have been committed. */
  readonly resent: boolean;
}

/** What the database answers to a cycle; the settlements of `attempts` come before those of `starts`. */
export type CycleAnswer = readonly [settled: readonly SettleResult[], claimed: ClaimResult | null];

/** Composes the cycles of a drain, applies their answers, and notes which notifications no claim has followed yet. */
export class CycleComposer {
  readonly #parts: DrainParts;
  readonly #queues: ReadonlySet<string>;
  #hasNewTasks = false;
  #ignoresNotifications = false;

  constructor(parts: DrainParts) {
    this.#parts = parts;
    this.#queues = new Set(parts.settings.registrations.flatMap(({ queues }) => queues));
  }

  /** Whether queues got tasks that no claim has asked for. */
  get hasNewTasks(): boolean {
    return this.#hasNewTasks;
  }

  /** Queues got tasks; null: it is unknown which. Returns whether that concerns this drain. */
  notifyQueued(queues: readonly string[] | null): boolean {
    if (this.#ignoresNotifications) return false;
    if (queues !== null && !queues.some((queue) => this.#queues.has(queue))) return false;
    this.#hasNewTasks = true;
    this.#parts.snapshot.invalidate();
    return true;
  }

  /** Tasks have ended or are queued again since the last claim: more of those that wait for a limit may start. */
  invalidate(): void {
    const { snapshot, claims } = this.#parts;
    snapshot.invalidate();
    if (snapshot.limited) claims.expectDueTasks();
  }

  compose(nowMs: number): Cycle {
    const { settings, held, claims, snapshot, retries, polls, queries, stopAtMs } = this.#parts;
    const attempts = held.outbox.take();
    const isContinuous = settings.continuous !== null;
    const requeues = attempts.some(({ settlement }) => "delayMs" in (settlement as object));
    const foundAll = attempts.length > 0 && !requeues && !this.#hasNewTasks && claims.foundAll;
    // Settles the last tasks before polling again, so that waiters are notified sooner. Not if tasks wait for a limit:
    // then these were not the last ones, since their end has made room.
    const settlesBeforePolling = isContinuous && held.isEmpty && foundAll && !snapshot.limited;
    if (settlesBeforePolling) polls.soon();
    const { hasRoom } = claims;
    // A claim without room recovers leases, and asks when the next task is due.
    const asksWhatIsLeft = (requeues || (held.isEmpty && !isContinuous)) && queries.mayAskWhatIsLeft;
    const isClaim = !settlesBeforePolling && (hasRoom || asksWhatIsLeft);
    if (isClaim) {
      if (hasRoom) this.#hasNewTasks = false;
      polls.cancel();
      retries.claimed(nowMs);
    }
    const { limited, sizes } = settings.hints.findings;
    const claimOnly = queries.isClaimOnly && hasRoom && attempts.length > 0 && !limited && !sizes.measures;
    const starts = held.gate.startsToAnnounce();
    const request = isClaim ? claims.request(stopAtMs - nowMs, claimOnly) : null;
    return { attempts, starts, request, sentAtMs: nowMs, version: snapshot.version, resent: false };
  }

  apply(cycle: Cycle, [settled, claimed]: CycleAnswer): void {
    this.#applySettled(cycle.attempts, settled, claimed);
    if (cycle.starts.length > 0) this.#applyStarts(cycle.starts, settled.slice(cycle.attempts.length));
    if (claimed !== null) this.#applyClaimed(claimed, cycle);
  }

  #applySettled(
    attempts: readonly Attempt[],
    settled: readonly SettleResult[],
    claimed: ClaimResult | null,
  ): void {
    const { settings, retries, totals, stopAtMs } = this.#parts;
    this.#ignoresNotifications = claimed !== null; // the claim of the same round trip saw what is queued again
    totals.settled(attempts, settled);
    this.#ignoresNotifications = false;
    if (claimed === null || claimed.claimOnly) this.invalidate();
    if (settings.continuous === null) retries.add(attempts, settled, stopAtMs);
  }

  /** A start without an answer is announced again. */
  #applyStarts(starts: readonly Attempt[], stored: readonly SettleResult[]): void {
    const { held } = this.#parts;
    const lost = new Set(starts.filter((_, i) => stored[i]?.status === null));
    if (lost.size > 0) held.lose((attempt) => lost.has(attempt));
    held.gate.announced(starts.filter((attempt, i) => i < stored.length && !lost.has(attempt)));
  }

  #applyClaimed(claimed: ClaimResult, { request, sentAtMs, version }: Cycle): void {
    const { settings, held, claims, snapshot, polls, totals } = this.#parts;
    totals.recovered(claimed.recovered);
    held.add(claimed, request!, sentAtMs);
    if (claimed.tasks.length > 0) polls.found();
    if (claimed.claimOnly) return;
    snapshot.update(claimed, version);
    totals.unclaimed.add(claimed);
    const { limited, skippedLarge, resent } = claimed;
    // The answer to a cycle that was sent again only reports what an earlier try claimed.
    if (resent || skippedLarge || (limited && !request!.limited)) claims.expectDueTasks();
    settings.hints.update(claimed);
  }
}
