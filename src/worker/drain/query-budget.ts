/** Divides the statements that a platform allows one drain. */

import { NEVER, NO_LIMIT } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import { QueryMeter } from "../../core/session/query-meter.ts";
import type { QueryShare, SharedQueries } from "../handler/query-share.ts";
import type { DrainSettings } from "./drain-settings.ts";
import type { DrainTime } from "./drain-time.ts";
import type { SlotPool } from "./slot-pool.ts";

/** Most statements that settle everything that is held: the settlement, and the history of failures. */
const SETTLE = 2;
/** The same again, in case an answer is lost. */
const RESEND = 2;
/** Statements that recover expired leases and ask when the next task is due. */
const RECOVER_AND_ASK = 3;
/** Statements that fire schedules, or store definitions of them. */
const FIRE = 6;
/** Most statements that mark a drain; see `WakeMarker`. */
const MARK = 2;
/** Statements that a handler is expected to send after its first ones. */
const HANDLER_AHEAD = 4;
/** Once no more than this share of the queries is left, a claim leaves those out. */
const CLAIM_ONLY_SHARE = 2 / 3;

/** The parts of a drain that its budget depends on. */
export interface QueryBudgetParts {
  readonly settings: Pick<DrainSettings, "maxQueries" | "leaseMs" | "hints" | "wadi">;
  /** A claim has a statement for each. */
  readonly pools: readonly SlotPool[];
  readonly time: DrainTime;
}

/**
 * Budgets the statements that a drain may send where a platform limits them. Settlements come first, then heartbeats,
 * then claims, and polls last: each is sent only if enough is left for those before it.
 */
export class QueryBudget implements SharedQueries {
  /** Counts what the drain sends, and what its handlers send through their contexts. */
  readonly meter = new QueryMeter();
  /** Shares of attempts that have sent something and have not ended. */
  readonly #open = new Set<QueryShare>();
  /** The share of the handler that sent first. */
  #first: QueryShare | null = null;
  readonly #parts: QueryBudgetParts;

  constructor(parts: QueryBudgetParts) {
    this.#parts = parts;
  }

  get isLimited(): boolean {
    return this.maxQueries !== NO_LIMIT;
  }

  get maxQueries(): number {
    return this.#parts.settings.maxQueries;
  }

  /**
   * Whether a handler may send `statements`: enough must be left to settle everything that is held. A handler that
   * has sent nothing is refused sooner, so that those that have begun can end; its task is released as if it had
   * never run. The first handler of the drain may always begin, and use everything that is left while no other has
   * begun: with few queries no handler ever could otherwise.
   */
  grants(share: QueryShare, statements: number): boolean {
    if (!this.isLimited) return true;
    this.#first ??= share;
    const isFirst = share === this.#first;
    if (share.sent === 0 && isFirst) return true;
    const kept = isFirst && this.#open.size === 1 ? 0 : SETTLE + RESEND;
    return this.left >= statements + kept + (share.sent === 0 ? HANDLER_AHEAD * (this.#open.size + 1) : 0);
  }

  sent(share: QueryShare, statements: number): void {
    this.meter.count(statements);
    this.#open.add(share);
  }

  ended(share: QueryShare): void {
    this.#open.delete(share);
  }

  get left(): number {
    return this.maxQueries - this.meter.sent;
  }

  /** Whether claims leave out what the drain can still ask at its end. */
  get isClaimOnly(): boolean {
    return this.isLimited && this.left <= this.maxQueries * CLAIM_ONLY_SHARE;
  }

  /** Whether the tasks of a claim could be settled, and their leases renewed until the end. */
  mayClaim(limited: boolean): boolean {
    // The first claim is always sent: a drain of many pools would never do anything otherwise.
    if (!this.isLimited || this.meter.sent === 0) return true;
    return this.left >= SETTLE + this.#claim(limited) + this.#reserve;
  }

  /** Whether the drain may poll: ask for due tasks although none is known to be due. */
  mayPoll(limited: boolean): boolean {
    return !this.isLimited || (!this.isClaimOnly && this.mayClaim(limited));
  }

  /** Whether a claim may fire schedules before it. Else they are left to the next drain. */
  mayFire(limited: boolean): boolean {
    return !this.isLimited || this.left >= FIRE + SETTLE + this.#claim(limited) + this.#reserve;
  }

  /** Whether the drain may ask, with its last settlement, when the next task is due. */
  get mayAskWhatIsLeft(): boolean {
    return this.left >= SETTLE + this.#recoverAndAsk;
  }

  /**
   * How long settlements and claims wait for more of their kind while handlers run, so that the remaining round trips
   * last for the remaining time. No lease expires meanwhile.
   */
  gatherMs(limited: boolean): number {
    if (!this.isLimited) return 0;
    const { settings, time } = this.#parts;
    const trips = Math.floor((this.left - SETTLE - RESEND) / (SETTLE + this.#claim(limited)));
    const evenlyMs = trips > 0 ? time.leftMs(monotonicMs()) / (trips + 1) : NEVER;
    return Math.min(evenlyMs, settings.leaseMs / 4);
  }

  /** Statements of a claim. */
  #claim(limited: boolean): number {
    const takes = this.#parts.pools.length * (limited ? 2 : 1) + (limited ? 2 : 0);
    return this.isClaimOnly && !limited ? takes : takes + this.#recoverAndAsk;
  }

  /** Expired tasks are ended by one statement more; a drain is marked by others. */
  get #recoverAndAsk(): number {
    const { hints, wadi } = this.#parts.settings;
    return RECOVER_AND_ASK + Number(hints.findings.expired) + (wadi.waker === null ? 0 : MARK);
  }

  /** Statements kept for held tasks: their settlement, and heartbeats if their leases do not outlast the drain. */
  get #reserve(): number {
    const { settings, time } = this.#parts;
    const { leaseMs } = settings;
    const leftMs = time.deadlineMs - monotonicMs();
    return SETTLE + RESEND + (leaseMs > leftMs ? 0 : Math.ceil(leftMs / (leaseMs / 2)));
  }
}
