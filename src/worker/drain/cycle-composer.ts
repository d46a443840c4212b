/** The cycles of a drain: round trips that settle what has ended and claim for free slots. */

import { NEVER } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import { type ClaimRequest, MAX_EXPIRED } from "../../core/operations/claim.ts";
import type { ClaimResult } from "../../core/operations/claim-result.ts";
import type { SettleResult } from "../../core/operations/settle.ts";
import type { WakeMark, WakeState } from "../../core/operations/wake.ts";
import type { Attempt } from "../handler/attempt.ts";
import type { DrainParts } from "./drain-parts.ts";
import type { ScheduleWork } from "./schedule-firing.ts";

/** The content of a round trip that settles and claims. */
export interface Cycle {
  readonly attempts: readonly Attempt[];
  /** Attempts whose starts it announces. */
  readonly starts: readonly Attempt[];
  /** Null: it only settles. */
  readonly request: ClaimRequest | null;
  /** What its claim says to submits; null: nothing. */
  readonly mark: WakeMark | null;
  /** What it does for schedules before that; null: nothing. */
  readonly work: ScheduleWork | null;
  /** The version of the queue snapshot when it was composed. */
  readonly version: number;
  /** When it was composed: no lease of its claim ends later than counted from here. */
  readonly sentAtMs: number;
  /** Whether it was sent before and may have been committed. */
  readonly resent: boolean;
}

/** What the database answers to a cycle; the settlements of `attempts` come before those of `starts`. */
export type CycleAnswer = readonly [
  settled: readonly SettleResult[],
  claimed: ClaimResult | null,
  wakes: readonly WakeState[] | null,
  /** The queues in which schedules queued tasks; null if it sent no such work. */
  fired: readonly string[] | null,
];

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

  /** @param asks Whether it must ask what is due, although there may be no room for tasks. */
  compose(nowMs: number, work: ScheduleWork | null, asks: boolean): Cycle {
    const { settings, held, claims, snapshot, retries, polls, queries, wakes, time } = this.#parts;
    const attempts = held.outbox.take();
    const isContinuous = settings.continuous !== null;
    const requeues = attempts.some(({ settlement }) => "delayMs" in (settlement as object));
    const foundAll = attempts.length > 0 && !requeues && !this.#hasNewTasks && claims.foundAll;
    // Settles the last tasks before polling again, so that waiters are notified sooner. Not if tasks wait for a limit:
    // then these were not the last ones, since their end has made room.
    const settlesBeforePolling = !asks && isContinuous && held.isEmpty && foundAll && !snapshot.limited;
    if (settlesBeforePolling) polls.soon();
    if (work !== null) claims.expectDueTasks();
    const { hasRoom } = claims;
    // A claim without room recovers leases, and asks when the next task is due.
    const asksWhatIsLeft = (requeues || (held.isEmpty && !isContinuous)) && queries.mayAskWhatIsLeft;
    const isAsked = asks || asksWhatIsLeft || wakes.releaseAtMs <= nowMs;
    const isClaim = !settlesBeforePolling && (hasRoom || isAsked);
    if (isClaim) {
      if (hasRoom) this.#hasNewTasks = false;
      polls.cancel();
      retries.claimed(nowMs);
    }
    const { limited, expired, sizes } = settings.hints.findings;
    const isPlain = !limited && !expired && !sizes.measures && !asks;
    const claimOnly = queries.isClaimOnly && hasRoom && attempts.length > 0 && isPlain;
    const starts = held.gate.startsToAnnounce();
    const request = isClaim ? claims.request(time.leftMs(nowMs), claimOnly) : null;
    const mark = request && wakes.markOf(request, nowMs, hasRoom && !claims.foundAll);
    const { version } = snapshot;
    return { attempts, starts, request, mark, work, sentAtMs: nowMs, version, resent: false };
  }

  apply(cycle: Cycle, [settled, claimed, states, fired]: CycleAnswer): void {
    if (fired !== null) this.#applyFired(cycle.work!, fired);
    this.#applySettled(cycle.attempts, settled, claimed);
    if (cycle.starts.length > 0) this.#applyStarts(cycle.starts, settled.slice(cycle.attempts.length));
    if (claimed === null) return;
    const { wakes } = this.#parts;
    wakes.answered(cycle.mark, states, claimed, cycle.request!, monotonicMs());
    this.#applyClaimed(claimed, cycle);
  }

  #applySettled(
    attempts: readonly Attempt[],
    settled: readonly SettleResult[],
    claimed: ClaimResult | null,
  ): void {
    const { settings, retries, totals, time } = this.#parts;
    this.#ignoresNotifications = claimed !== null; // the claim of the same round trip saw what is queued again
    totals.settled(attempts, settled);
    this.#ignoresNotifications = false;
    if (claimed === null || claimed.claimOnly) this.invalidate();
    if (settings.continuous === null) retries.add(attempts, settled, time.stopAtMs);
  }

  /**
   * The claim of the same round trip saw the new tasks; the other workers of the process are notified, and drains of
   * other queues are kicked.
   */
  #applyFired(work: ScheduleWork, queues: readonly string[]): void {
    this.#parts.schedules.sent(work);
    if (queues.length === 0) return;
    const { notifier, waker, hint } = this.#parts.settings.wadi;
    this.#ignoresNotifications = true;
    notifier.queued([...queues]);
    this.#ignoresNotifications = false;
    hint?.touch(); // another worker may have the handlers
    const others = queues.filter((queue) => !this.#queues.has(queue));
    if (others.length > 0) void waker?.kickQueues(others, []);
  }

  /** A start without an answer is announced again. */
  #applyStarts(starts: readonly Attempt[], stored: readonly SettleResult[]): void {
    const { held } = this.#parts;
    const lost = new Set(starts.filter((_, i) => stored[i]?.status === null));
    if (lost.size > 0) held.lose((attempt) => lost.has(attempt));
    held.gate.announced(starts.filter((attempt, i) => i < stored.length && !lost.has(attempt)));
  }

  #applyClaimed(claimed: ClaimResult, { request, sentAtMs, version }: Cycle): void {
    const { settings, held, claims, snapshot, polls, schedules, time, totals } = this.#parts;
    time.claimed(monotonicMs());
    totals.recovered(claimed.recovered);
    held.add(claimed, request!, sentAtMs);
    if (claimed.tasks.length > 0) polls.found();
    if (claimed.claimOnly) return;
    const slotAtMs = schedules.note(claimed.schedules, claimed.nowMs);
    const nextDueAtMs = Math.min(claimed.nextDueAtMs ?? NEVER, slotAtMs ?? NEVER);
    snapshot.update({ ...claimed, nextDueAtMs: nextDueAtMs === NEVER ? null : nextDueAtMs }, version);
    totals.unclaimed.add(claimed);
    // Their tasks were counted, and are not when the database is asked again.
    if (totals.unclaimed.skipNames(claims.namesTooLong)) snapshot.invalidate();
    const { limited, skippedLarge, resent, expired, ended } = claimed;
    totals.expired(ended);
    // Expired tasks were in the way of others. After an incomplete sweep they are not: all that had expired are gone.
    const isBehindExpired = expired && (!request!.expired || ended.length >= MAX_EXPIRED);
    // The answer to a cycle that was sent again only reports what an earlier try claimed.
    if (resent || skippedLarge || isBehindExpired || (limited && !request!.limited)) claims.expectDueTasks();
    settings.hints.update(claimed);
  }
}
