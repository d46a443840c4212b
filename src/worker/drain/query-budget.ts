import { monotonicMs } from "../../core/clock.ts";
import { QueryMeter } from "../../core/session/query-meter.ts";
import type { QueryShare, SharedQueries } from "../handler/query-share.ts";

/** Most statements that a settlement of all that is held takes: one, one for the history of failures. */
const SETTLE = 2;
/** The same once more, if an answer is lost. */
const RESEND = 2;
/** Statements that recover expired leases and ask when more is due. */
const LOOK = 3;
/** What a handler that has sent something is expected to send more. */
const AHEAD = 4;
/** Share of the queries from which on a claim leaves those out. */
const BRIEF_SHARE = 2 / 3;

export interface QueryPlan {
  /** Most queries of the drain; `Infinity`: no limit. */
  readonly maxQueries: number;
  /** Slots that a claim asks for apart from each other. */
  readonly pools: number;
  /** When handlers are stopped and when all is over, on the monotonic clock. */
  readonly stopAtMs: number;
  readonly deadlineMs: number;
  readonly leaseMs: number;
}

/**
 * The statements that a drain may send, as a platform counts them. Settlements come first, then heartbeats, then claims,
 * and polls last: each is sent only while what comes before it could still be.
 */
export class QueryBudget implements SharedQueries {
  /** Counts all that the drain sends, and what its handlers send through their contexts. */
  readonly meter = new QueryMeter();
  readonly shares = new Set<QueryShare>();
  #first: QueryShare | null = null;
  readonly #plan: QueryPlan;

  constructor(plan: QueryPlan) {
    this.#plan = plan;
  }

  get isLimited(): boolean {
    return this.#plan.maxQueries !== Number.POSITIVE_INFINITY;
  }

  get maxQueries(): number {
    return this.#plan.maxQueries;
  }

  /**
   * A handler may send what leaves enough to settle all that is held. Those that have begun go first: one that has sent
   * nothing is refused where they and it may need more, and can be handed back as if it had never run. The first one of
   * the drain may always begin, and use up all that is left while no other has begun, or with few queries none ever would.
   */
  grants(share: QueryShare, statements: number): boolean {
    if (!this.isLimited) return true;
    this.#first ??= share;
    const isFirst = share === this.#first;
    if (share.sent === 0 && isFirst) return true;
    const kept = isFirst && this.shares.size === 1 ? 0 : SETTLE + RESEND;
    return this.left >= statements + kept + (share.sent === 0 ? AHEAD * (this.shares.size + 1) : 0);
  }

  get left(): number {
    return this.#plan.maxQueries - this.meter.sent;
  }

  /** Whether claims leave out what a drain can learn at its end. */
  get isBrief(): boolean {
    return this.isLimited && this.left <= this.#plan.maxQueries * BRIEF_SHARE;
  }

  /** Whether what is claimed could be settled, and its leases renewed until the end. */
  mayClaim(limited: boolean): boolean {
    // The first claim always goes, or a drain of many pools would never do anything.
    if (!this.isLimited || this.meter.sent === 0) return true;
    return this.left >= SETTLE + this.#claim(limited) + this.#reserve;
  }

  /** Whether it may ask what is due although nothing is known to be. */
  mayPoll(limited: boolean): boolean {
    return !this.isLimited || (!this.isBrief && this.mayClaim(limited));
  }

  /** Whether it may ask, with its last settlement, what it leaves. */
  get mayLook(): boolean {
    return this.left >= SETTLE + LOOK;
  }

  /**
   * For how long settlements and claims wait for more of their kind while handlers run: the round trips that are left are
   * spread over the time that is left. No lease may expire meanwhile.
   */
  gatherMs(limited: boolean): number {
    if (!this.isLimited) return 0;
    const { stopAtMs, leaseMs } = this.#plan;
    const trips = Math.floor((this.left - SETTLE - RESEND) / (SETTLE + this.#claim(limited)));
    const evenlyMs = trips > 0 ? (stopAtMs - monotonicMs()) / (trips + 1) : Number.POSITIVE_INFINITY;
    return Math.min(evenlyMs, leaseMs / 4);
  }

  #claim(limited: boolean): number {
    const takes = this.#plan.pools * (limited ? 2 : 1) + (limited ? 2 : 0);
    return this.isBrief && !limited ? takes : takes + LOOK;
  }

  /** What is kept for what is held: its settlement, and heartbeats if its leases do not outlast the drain. */
  get #reserve(): number {
    const { deadlineMs, leaseMs } = this.#plan;
    const leftMs = deadlineMs - monotonicMs();
    return SETTLE + RESEND + (leaseMs > leftMs ? 0 : Math.ceil(leftMs / (leaseMs / 2)));
  }
}
