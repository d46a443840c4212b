import { monotonicMs } from "../../core/clock.ts";
import type { Exchange, ExchangeParts } from "./exchange.ts";
import type { RoundTrips } from "./round-trips.ts";

const NEVER = Number.POSITIVE_INFINITY;
/** How long settlements wait for more of them while ready tasks are likely to bring some. */
const GATHER_MS = 4;

/** When the next round trips of a drain are due, on the monotonic clock. */
export class TripSchedule {
  readonly #parts: ExchangeParts;
  readonly #exchange: Exchange;
  readonly #wire: RoundTrips;
  /** Since when the handlers that run were not asked for cancels; null while none runs. */
  #uncheckedSinceMs: number | null = null;
  /** When the last trip that settled or claimed was answered. */
  #cycledAtMs = 0;

  constructor(parts: ExchangeParts, exchange: Exchange, wire: RoundTrips) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#wire = wire;
  }

  /** When what has ended is to be settled, or tasks are to be claimed. */
  get cycleAtMs(): number {
    const { hand, intake } = this.#parts;
    const { outbox, outboxSinceMs, ready } = hand;
    let atMs = NEVER;
    if (this.#wire.unanswered !== null || this.#mustLook || hand.company.isStalled) atMs = 0;
    else if (intake.wantsMore) atMs = this.gatherUntilMs;
    else if (outbox.length > 0) {
      const gatheredAtMs = Math.max(outboxSinceMs, this.#wire.answeredAtMs) + GATHER_MS;
      atMs = Math.max(ready === 0 ? 0 : gatheredAtMs, this.gatherUntilMs);
    }
    return Math.max(atMs, this.#wire.retryAtMs);
  }

  /** When leases are to be renewed. */
  get heartbeatAtMs(): number {
    return Math.max(this.#parts.hand.leases.heartbeatAtMs, this.#wire.retryAtMs);
  }

  /** When the database is to be asked which of the tasks that are held were canceled. A heartbeat asks too. */
  get checkAtMs(): number {
    const { plan, budget, outlook, intake } = this.#parts;
    if (this.#uncheckedSinceMs === null || intake.isClosed || !budget.mayPoll(outlook.limited)) return NEVER;
    return Math.max(this.#uncheckedSinceMs + plan.cancelPollMs, this.#wire.retryAtMs);
  }

  /** A trip that settled or claimed was answered. */
  cycled(nowMs: number): void {
    this.#cycledAtMs = nowMs;
  }

  /** Notes whether handlers run. */
  notice(nowMs: number): void {
    if (this.#parts.hand.running.size === 0) this.#uncheckedSinceMs = null;
    else this.#uncheckedSinceMs ??= nowMs;
  }

  /** The database was asked at `nowMs`; `-Infinity`: it is to be asked at once. */
  checked(nowMs: number): void {
    if (this.#uncheckedSinceMs !== null) this.#uncheckedSinceMs = nowMs;
  }

  /** Until when what has ended waits for the handlers that run, so that few queries last for all of the time. */
  get gatherUntilMs(): number {
    const { budget, hand, intake, outlook } = this.#parts;
    if (!budget.isLimited || intake.isClosed || hand.running.size === 0) return 0;
    if (this.#exchange.hasNews && !budget.isBrief) return 0;
    if (this.#isAwaited && budget.mayClaim(outlook.limited)) return 0;
    return this.#cycledAtMs + budget.gatherMs(outlook.limited);
  }

  /** Whether a handler may be waiting for what has ended, or for a task that is new: to gather would be to wait for itself. */
  get #isAwaited(): boolean {
    const { plan, hand } = this.#parts;
    const { signals } = plan.wadi;
    return (this.#exchange.hasNews && signals.awaits()) || hand.outbox.some(({ id }) => signals.awaits(id));
  }

  /** Whether it would end if it knew that nothing is left. Its first claim is one of these, also an endless one's. */
  get #mustLook(): boolean {
    const { plan, hand, outlook, tally, budget } = this.#parts;
    const isFirst = tally.roundTrips === 0;
    if (plan.endless !== null) return isFirst;
    return hand.isEmpty && !outlook.isPresent && (isFirst || budget.mayLook);
  }

  /** When free slots should be filled without news. */
  get pollAtMs(): number {
    const { polls, hand, intake } = this.#parts;
    if (intake.isClosed || this.#wire.failures > 0) return NEVER;
    return Math.min(polls.atMs, hand.isEmpty ? this.#lingerUntilMs : NEVER);
  }

  /** When the retry is due that a drain with nothing in flight waits for. */
  get #lingerUntilMs(): number {
    const { plan, outlook, intake } = this.#parts;
    const { retryAtMs } = outlook;
    return retryAtMs <= monotonicMs() + plan.lingerMs && intake.hasRoom ? retryAtMs : NEVER;
  }

  /** Before a drain waits: plans the next poll. */
  plan(nowMs: number): void {
    const { plan, hand, intake, outlook, polls, budget } = this.#parts;
    if (!intake.hasRoom || !budget.mayPoll(outlook.limited)) return;
    if (plan.endless === null && hand.isEmpty) return;
    polls.plan(nowMs, outlook.dueAtMs, outlook.limited);
  }
}
