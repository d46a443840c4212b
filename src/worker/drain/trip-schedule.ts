import { NEVER } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { TripParts } from "./trip-parts.ts";

/** How long settlements wait for more of them while ready tasks are likely to end soon. */
const GATHER_MS = 4;

/** Computes when the next round trips of a drain are due, on the monotonic clock; `Infinity` if none is. */
export class TripSchedule {
  readonly #parts: TripParts;
  /** Since when the handlers that run were not checked for cancels; null while none runs. */
  #uncheckedSinceMs: number | null = null;
  /** When the last cycle was answered. */
  #cycledAtMs = 0;

  constructor(parts: TripParts) {
    this.#parts = parts;
  }

  /** When the next round trip of any kind is due. */
  get tripAtMs(): number {
    return Math.min(this.cycleAtMs, this.heartbeatAtMs, this.cancelCheckAtMs);
  }

  /** When to settle what has ended, or to claim. */
  get cycleAtMs(): number {
    const { held, claims } = this.#parts;
    const { outbox, ready, gate } = held;
    let atMs = NEVER;
    const { trips, wakes } = this.#parts;
    if (trips.unanswered !== null || this.#mustClaim || this.#mustFire || gate.needsAnnouncement) atMs = 0;
    else if (claims.wantsMore) atMs = this.gatherUntilMs;
    else if (outbox.length > 0) {
      const gatheredAtMs = Math.max(outbox.sinceMs, this.#parts.trips.answeredAtMs) + GATHER_MS;
      atMs = Math.max(ready === 0 ? 0 : gatheredAtMs, this.gatherUntilMs);
    }
    return Math.max(Math.min(atMs, wakes.releaseAtMs), trips.retryAtMs);
  }

  /** When to renew leases. */
  get heartbeatAtMs(): number {
    return Math.max(this.#parts.held.leases.heartbeatAtMs, this.#parts.trips.retryAtMs);
  }

  /** When to ask which of the held tasks were canceled. A heartbeat asks too. */
  get cancelCheckAtMs(): number {
    const { settings, queries, snapshot, claims } = this.#parts;
    if (this.#uncheckedSinceMs === null || claims.isClosed || !queries.mayPoll(snapshot.limited))
      return NEVER;
    return Math.max(this.#uncheckedSinceMs + settings.cancelPollMs, this.#parts.trips.retryAtMs);
  }

  /** A cycle was answered. */
  cycled(nowMs: number): void {
    this.#cycledAtMs = nowMs;
  }

  /** Notes whether handlers run. */
  noteRunning(nowMs: number): void {
    if (this.#parts.held.running.size === 0) this.#uncheckedSinceMs = null;
    else this.#uncheckedSinceMs ??= nowMs;
  }

  /** Held tasks were checked for cancels. */
  cancelsChecked(nowMs: number): void {
    if (this.#uncheckedSinceMs !== null) this.#uncheckedSinceMs = nowMs;
  }

  /** Makes a check for cancels due now. */
  checkCancelsNow(): void {
    this.cancelsChecked(-NEVER);
  }

  /** Until when settlements wait for more while handlers run, so that a budget of queries lasts for all of the time. */
  get gatherUntilMs(): number {
    const { queries, held, claims, snapshot } = this.#parts;
    if (!queries.isLimited || claims.isClosed || held.running.size === 0) return 0;
    if (this.#parts.cycles.hasNewTasks && !queries.isClaimOnly) return 0;
    if (this.#isAwaited && queries.mayClaim(snapshot.limited)) return 0;
    return this.#cycledAtMs + queries.gatherMs(snapshot.limited);
  }

  /**
   * Whether a handler may be waiting for a task that has ended or is new. To gather would be to wait for that
   * handler.
   */
  get #isAwaited(): boolean {
    const { settings, held } = this.#parts;
    const { notifier } = settings.wadi;
    return (
      (this.#parts.cycles.hasNewTasks && notifier.awaits()) ||
      held.outbox.some(({ id }) => notifier.awaits(id))
    );
  }

  /**
   * Whether a claim is due in any case: the first one, and the one by which a short drain learns that nothing is
   * left, and takes back its mark.
   */
  get #mustClaim(): boolean {
    const { settings, held, snapshot, totals, queries, wakes } = this.#parts;
    const isFirst = totals.roundTrips === 0;
    if (settings.continuous !== null) return isFirst;
    return (
      held.isEmpty &&
      ((wakes.isHeld && !wakes.isStaying) || !snapshot.isCurrent) &&
      (isFirst || queries.mayAskWhatIsLeft)
    );
  }

  /** Whether a claim reported schedules that are due, or definitions are to be stored. */
  get #mustFire(): boolean {
    const { schedules, claims, queries, snapshot } = this.#parts;
    return schedules.isPending && !claims.isClosed && queries.mayFire(snapshot.limited);
  }

  /** When to claim for free slots without a notification: at the next poll, or when a retry is due. */
  get pollAtMs(): number {
    const { polls, held, claims } = this.#parts;
    if (claims.isClosed || this.#parts.trips.isFailing || !claims.hasRoom) return NEVER;
    return Math.min(polls.atMs, held.isEmpty ? this.#retryAtMs : NEVER);
  }

  /** When the retry is due that a short drain lingers for. */
  get #retryAtMs(): number {
    const { settings, retries } = this.#parts;
    const { nextAtMs } = retries;
    return nextAtMs <= monotonicMs() + settings.lingerMs ? nextAtMs : NEVER;
  }

  /** Plans the next poll, before the drain waits. */
  planPoll(nowMs: number): void {
    const { settings, held, claims, snapshot, polls, queries } = this.#parts;
    if (!claims.hasRoom || !queries.mayPoll(snapshot.limited)) return;
    if (settings.continuous === null && held.isEmpty) return;
    polls.plan(nowMs, snapshot.dueAtMs, snapshot.limited);
  }
}
