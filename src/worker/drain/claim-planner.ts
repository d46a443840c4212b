/** Decides how many tasks a claim may bring, and composes its request. */

import type { ClaimRequest } from "../../core/operations/claim.ts";
import { ulid } from "../../core/ulid.ts";
import type { ByteBudget } from "./byte-budget.ts";
import type { DrainReporter } from "./drain-reporter.ts";
import type { DrainSettings } from "./drain-settings.ts";
import type { HeldTasks } from "./held-tasks.ts";
import type { QueryBudget } from "./query-budget.ts";
import type { SlotPool } from "./slot-pool.ts";

export interface ClaimPlannerParts {
  readonly settings: DrainSettings;
  readonly pools: readonly SlotPool[];
  readonly bytes: ByteBudget;
  readonly totals: DrainReporter;
  readonly queries: QueryBudget;
  readonly held: HeldTasks;
}

/** Composes claims, of as many tasks as the slots, the budgets of bytes and queries, and `maxTasks` leave room for. */
export class ClaimPlanner {
  readonly #parts: ClaimPlannerParts;
  /** Claims composed so far: the pools take turns in being asked first. */
  #claims = 0;
  #isClosed = false;

  constructor(parts: ClaimPlannerParts) {
    this.#parts = parts;
  }

  /** Whether nothing is claimed any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Tasks that a claim may bring. */
  get room(): number {
    const { settings, pools, bytes, totals, queries, held } = this.#parts;
    if (this.#isClosed || !queries.mayClaim(settings.hints.findings.limited)) return 0;
    const tasksLeft = Math.min(settings.maxTasks - totals.claimedTasks, held.gate.room(held.ready));
    if (!bytes.isLimited) return tasksLeft;
    const open = pools.reduce((sum, pool) => sum + pool.open, 0);
    return Math.min(tasksLeft, bytes.room(open));
  }

  /** Whether a claim could bring a task that may start soon. */
  get hasRoom(): boolean {
    return this.room > 0 && this.#parts.pools.some((pool) => pool.isLow && pool.room > 0);
  }

  /** Whether a claim is worth a round trip that settles nothing. */
  get wantsMore(): boolean {
    return this.#parts.pools.some((pool) => pool.wantsMore) && this.room > 0;
  }

  /** Whether the last claim brought all tasks that were due. */
  get foundAll(): boolean {
    return this.#parts.pools.every(({ mayHaveDueTasks }) => !mayHaveDueTasks);
  }

  /** Names whose declared runs are longer than any that the drain has time for, as its first claim showed. */
  get namesTooLong(): string[] {
    return this.#parts.pools.flatMap(({ handlers }) =>
      handlers.filter(({ isTooLong }) => isTooLong).map(({ registration }) => registration.name),
    );
  }

  /** There may be due tasks that no claim has asked for. */
  expectDueTasks(): void {
    for (const pool of this.#parts.pools) pool.expectDueTasks();
  }

  /**
   * Composes a claim. Every name is part of it, also one without room, since the answer says when the next of their
   * tasks is due; with `claimOnly` it does not ask for that.
   */
  request(leftMs: number, claimOnly: boolean): ClaimRequest {
    const { settings, pools } = this.#parts;
    let room = this.room;
    const first = this.#claims++ % pools.length;
    const asked = [...pools.slice(first), ...pools.slice(0, first)].map((pool) => {
      const ask = pool.ask(pool.isLow ? Math.min(pool.room, room) : 0, leftMs);
      room -= ask.limit;
      return ask;
    });
    const { name, leaseMs, hints, schedules } = settings;
    return {
      pools: asked,
      workerId: `${name}:${ulid()}`,
      leaseMs,
      announces: true,
      ...hints.findings,
      claimOnly,
      scheduleGroup: schedules?.group ?? null,
      unhandled: this.#claims === 1, // the first claim asks for it: if its round trip fails, it is sent again as it is
    };
  }
}
