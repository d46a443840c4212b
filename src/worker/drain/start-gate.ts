/** Decides which ready tasks may start. */

import { NO_LIMIT } from "../../core/infinity.ts";
import { byClaimOrder } from "../../core/operations/claim-result.ts";
import type { Start } from "../../core/operations/settle.ts";
import type { Attempt } from "../handler/attempt.ts";
import type { SlotPool } from "./slot-pool.ts";

/**
 * Two rules decide whether a ready task may start:
 *
 * - A suspect, which is a task whose worker vanished while it ran, runs among few others or alone. If the worker
 *   vanishes again, few tasks are suspected. So a harmless task loses at most two attempts to one that kills its
 *   workers.
 * - A task whose start is not recorded yet waits until a round trip has recorded it, so that tasks which never ran are
 *   not suspected of a crash.
 */
export class StartGate {
  readonly #pools: readonly SlotPool[];
  /** Those of all pools. */
  readonly slots: number;
  readonly #running: { readonly size: number };
  /** In the order of their claims. */
  readonly #suspects = new Set<Attempt>();

  constructor(pools: readonly SlotPool[], running: { readonly size: number }) {
    this.#pools = pools;
    this.slots = pools.reduce((sum, { slots }) => sum + slots, 0);
    this.#running = running;
  }

  add(attempt: Attempt): void {
    if (isSuspect(attempt)) this.#suspects.add(attempt);
  }

  remove(attempt: Attempt): void {
    this.#suspects.delete(attempt);
  }

  /**
   * Most calls at once while this task runs, its call included. A task whose worker vanished once runs among half as
   * many as there are slots; if it may not crash again, or has crashed twice, it runs alone.
   */
  #maxCallsWith({ task: { crashes, maxCrashes, attempt, maxAttempts } }: Attempt): number {
    if (crashes === 0) return NO_LIMIT;
    const mayCrashAgain = crashes === 1 && attempt < maxAttempts && (maxCrashes === null || maxCrashes > 2);
    return mayCrashAgain ? Math.max(1, this.slots >> 1) : 1;
  }

  /** Most calls at once, for the suspects for which `matches` is true. */
  #maxCalls(matches: (attempt: Attempt) => boolean = () => true): number {
    let most = NO_LIMIT;
    for (const attempt of this.#suspects) {
      if (matches(attempt)) most = Math.min(most, this.#maxCallsWith(attempt));
    }
    return most;
  }

  /** How many more tasks a claim may bring while `ready` tasks are ready. */
  room(ready: number): number {
    return this.#suspects.size === 0 ? NO_LIMIT : Math.max(0, this.#maxCalls() - this.#running.size - ready);
  }

  /** Suspects start before others. */
  mayStart(attempt: Attempt): boolean {
    if (attempt.isOnHold) return false;
    if (this.#suspects.size === 0) return true;
    const most = this.#maxCalls(hasStarted);
    if (isSuspect(attempt)) return this.#running.size < Math.min(most, this.#maxCallsWith(attempt));
    return this.#running.size < most && this.#waiting().length === 0;
  }

  /** The suspects that have not started. There is rarely any suspect. */
  #waiting(): readonly Attempt[] {
    return this.#suspects.size === 0 ? [] : [...this.#suspects].filter(isWaiting);
  }

  /** The attempts whose starts the round trip that is composed now announces. */
  startsToAnnounce(): Attempt[] {
    const starts = this.#pools.map((pool) => pool.nextStarts());
    const waiting = this.#waiting();
    if (waiting.length > 0) return this.#suspectsToAnnounce(waiting);
    return this.#running.size >= this.#maxCalls(hasStarted) ? [] : starts.flat();
  }

  /** Those of the waiting suspects that could start at once; none while one of them is announced already. */
  #suspectsToAnnounce(waiting: readonly Attempt[]): Attempt[] {
    const [first] = waiting;
    if (waiting.some(({ isOnHold }) => !isOnHold)) return [];
    const most = Math.min(this.#maxCalls(hasStarted), this.#maxCallsWith(first!));
    const fitting = waiting.filter((attempt) => this.#maxCallsWith(attempt) >= most);
    return fitting.slice(0, Math.max(0, most - this.#running.size));
  }

  /** The database has stored these starts, and with each that of all tasks claimed before it under the same lease. */
  announced(starts: readonly Attempt[]): void {
    if (starts.length === 0) return;
    const last: Attempt[] = [];
    for (const attempt of starts) {
      if (isSuspect(attempt)) attempt.announced();
      else last.push(attempt);
    }
    const isAnnounced = (attempt: Attempt) => last.some((start) => announces(start, attempt));
    for (const { ready } of this.#pools) ready.announced(isAnnounced);
  }

  /** Whether slots are free and tasks are ready, and none can start before a round trip announces it. */
  get needsAnnouncement(): boolean {
    const waiting = this.#waiting();
    if (waiting.length > 0) return this.#suspectsToAnnounce(waiting).length > 0;
    if (this.#running.size >= this.#maxCalls(hasStarted)) return false;
    return this.#pools.some(({ hasFreeSlot, ready }) => hasFreeSlot && ready.isAllUnannounced);
  }
}

function isSuspect({ task }: Attempt): boolean {
  return task.crashes > 0;
}

function hasStarted({ startedAtMs }: Attempt): boolean {
  return startedAtMs > 0;
}

function isWaiting({ startedAtMs, hasEnded }: Attempt): boolean {
  return startedAtMs === 0 && !hasEnded;
}

/** Whether the announcement of `start` is that of `attempt` too. */
function announces(start: Attempt, { lease, task }: Attempt): boolean {
  return lease === start.lease && task.crashes === 0 && byClaimOrder(task, start.task) <= 0;
}

export function startOf({ id, workerId, task }: Attempt): Start {
  return { id, workerId, attempt: task.attempt, outcome: "start" };
}
