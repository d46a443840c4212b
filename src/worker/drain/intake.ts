import type { ClaimRequest } from "../../core/operations/claim.ts";
import { ulid } from "../../core/ulid.ts";
import type { ByteBudget } from "./byte-budget.ts";
import type { DrainSettings } from "./drain-options.ts";
import type { HeldTasks } from "./held-tasks.ts";
import type { QueryBudget } from "./query-budget.ts";
import type { SlotPool } from "./slot-pool.ts";
import type { Tally } from "./tally.ts";

/** What a claim may bring, and what it asks for. */
export class Intake {
  readonly #plan: DrainSettings;
  readonly #pools: readonly SlotPool[];
  readonly #bytes: ByteBudget;
  readonly #tally: Tally;
  readonly #budget: QueryBudget;
  readonly #hand: HeldTasks;
  /** Claims composed: the pools take turns in being asked first. */
  #claims = 0;
  #isClosed = false;

  constructor(
    plan: DrainSettings,
    pools: readonly SlotPool[],
    bytes: ByteBudget,
    tally: Tally,
    budget: QueryBudget,
    hand: HeldTasks,
  ) {
    this.#hand = hand;
    this.#plan = plan;
    this.#pools = pools;
    this.#bytes = bytes;
    this.#tally = tally;
    this.#budget = budget;
  }

  /** Whether nothing is claimed any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Nothing is claimed any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Tasks that a claim may bring. */
  get room(): number {
    if (this.#isClosed || !this.#budget.mayClaim(this.#plan.learned.limited)) return 0;
    const { company, ready } = this.#hand;
    const tasksLeft = Math.min(this.#plan.maxTasks - this.#tally.claimed, company.room(ready));
    if (!this.#bytes.isLimited) return tasksLeft;
    const open = this.#pools.reduce((sum, pool) => sum + pool.open, 0);
    return Math.min(tasksLeft, this.#bytes.room(open));
  }

  /** Whether a claim could bring something that may start soon. */
  get hasRoom(): boolean {
    return this.room > 0 && this.#pools.some((pool) => pool.isLow && pool.room > 0);
  }

  /** Whether a claim is worth a round trip of its own. */
  get wantsMore(): boolean {
    return this.#pools.some((pool) => pool.wantsMore) && this.room > 0;
  }

  /** Whether the last claim brought all there was. */
  get foundAll(): boolean {
    return this.#pools.every(({ hungry }) => !hungry);
  }

  /** There may be due tasks that were not asked for. */
  becomeHungry(): void {
    for (const pool of this.#pools) pool.hungry = true;
  }

  /** Every name counts for the next due time, also those that have no room. A claim-only request does not ask for it. */
  request(leftMs: number, claimOnly: boolean): ClaimRequest {
    let room = this.room;
    const first = this.#claims++ % this.#pools.length;
    const pools = [...this.#pools.slice(first), ...this.#pools.slice(0, first)].map((pool) => {
      const asked = pool.ask(pool.isLow ? Math.min(pool.room, room) : 0, leftMs);
      room -= asked.limit;
      return asked;
    });
    const { name, leaseMs, learned } = this.#plan;
    const unhandled = this.#claims === 1; // also where a trip fails: it is sent again as it is
    return {
      pools,
      workerId: `${name}:${ulid()}`,
      leaseMs,
      announces: true,
      ...learned,
      claimOnly,
      unhandled,
    };
  }
}
