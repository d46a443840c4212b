import { byClaimOrder } from "../../core/operations/claim-result.ts";
import type { Start } from "../../core/operations/settle.ts";
import type { Task } from "../../core/task.ts";
import type { Attempt } from "../handler/attempt.ts";
import type { SlotPool } from "./slot-pool.ts";

const NO_LIMIT = Number.POSITIVE_INFINITY;

/**
 * How many calls may run beside that of a task, its own included. One whose worker vanished once runs among half as
 * many, so that the next time fewer are suspected; one that has only this attempt left, or that vanished with its worker
 * twice, runs alone. So a task that does no harm loses two attempts at most to one that does.
 */
function mostBeside({ crashes, maxCrashes, attempt, maxAttempts }: Task, slots: number): number {
  if (crashes === 0) return NO_LIMIT;
  const mayCrashAgain = crashes === 1 && attempt < maxAttempts && (maxCrashes === null || maxCrashes > 2);
  return mayCrashAgain ? Math.max(1, slots >> 1) : 1;
}

/**
 * Which of the ready tasks may start: keeps those apart whose worker vanished before, and starts nothing that the
 * database holds for not started. The announcements go with the round trips of a drain.
 */
export class CrashIsolation {
  readonly #pools: readonly SlotPool[];
  readonly #slots: number;
  readonly #calls: { readonly size: number };
  /** Held by this worker, in the order of claims. */
  readonly #suspects = new Set<Attempt>();

  constructor(pools: readonly SlotPool[], calls: { readonly size: number }) {
    this.#pools = pools;
    this.#slots = pools.reduce((sum, { slots }) => sum + slots, 0);
    this.#calls = calls;
  }

  #most({ task }: Attempt): number {
    return mostBeside(task, this.#slots);
  }

  add(attempt: Attempt): void {
    if (attempt.task.crashes > 0) this.#suspects.add(attempt);
  }

  remove(attempt: Attempt): void {
    this.#suspects.delete(attempt);
  }

  #limit(which: (attempt: Attempt) => boolean = () => true): number {
    let most = NO_LIMIT;
    for (const attempt of this.#suspects) if (which(attempt)) most = Math.min(most, this.#most(attempt));
    return most;
  }

  /** How many more tasks a claim may bring. */
  room(ready: number): number {
    return this.#suspects.size === 0 ? NO_LIMIT : Math.max(0, this.#limit() - this.#calls.size - ready);
  }

  /** Whether this one may start now. Those that vanished with their worker go before others. */
  mayStart(attempt: Attempt): boolean {
    if (attempt.isHeld) return false;
    if (this.#suspects.size === 0) return true;
    const running = this.#limit(hasStarted);
    if (attempt.task.crashes > 0) return this.#calls.size < Math.min(running, this.#most(attempt));
    return this.#calls.size < running && ![...this.#suspects].some(isWaiting);
  }

  /** The tasks whose start the next round trip announces. */
  announce(): Attempt[] {
    const windows = this.#pools.map((pool) => pool.plan());
    const waiting = [...this.#suspects].filter(isWaiting);
    if (waiting.length > 0) return this.#nextSuspects(waiting);
    if (this.#calls.size >= this.#limit(hasStarted)) return [];
    return this.#pools.flatMap(({ ready }, i) => ready.heldWithin(windows[i]!));
  }

  /** Those of them that could start at once, while none of them may already. */
  #nextSuspects(waiting: readonly Attempt[]): Attempt[] {
    const [first] = waiting;
    if (waiting.some(({ isHeld }) => !isHeld)) return [];
    const most = Math.min(this.#limit(hasStarted), this.#most(first!));
    const fitting = waiting.filter((attempt) => this.#most(attempt) >= most);
    return fitting.slice(0, Math.max(0, most - this.#calls.size));
  }

  /** Takes in which announcements the database has stored. */
  announced(attempts: readonly Attempt[]): void {
    if (attempts.length === 0) return;
    for (const last of attempts) {
      if (last.task.crashes > 0) last.announced();
      else
        for (const { ready } of this.#pools)
          for (const attempt of ready) if (isBefore(attempt, last)) attempt.announced();
    }
    for (const { ready } of this.#pools) ready.countHeld();
  }

  /** Whether nothing can start before a round trip has announced it. */
  get isStalled(): boolean {
    const waiting = [...this.#suspects].filter(isWaiting);
    if (waiting.length > 0) return this.#nextSuspects(waiting).length > 0;
    if (this.#calls.size >= this.#limit(hasStarted)) return false;
    return this.#pools.some(
      ({ ready, calls, slots }) => calls < slots && ready.size > 0 && ready.size === ready.held,
    );
  }
}

function hasStarted({ startedAtMs }: Attempt): boolean {
  return startedAtMs > 0;
}

function isWaiting({ startedAtMs, hasEnded }: Attempt): boolean {
  return startedAtMs === 0 && !hasEnded;
}

/** Whether the announcement of `last` is that of this one too. */
function isBefore({ lease, task }: Attempt, last: Attempt): boolean {
  return lease === last.lease && task.crashes === 0 && byClaimOrder(task, last.task) <= 0;
}

export function startOf({ id, workerId, task }: Attempt): Start {
  return { id, workerId, attempt: task.attempt, outcome: "start" };
}
