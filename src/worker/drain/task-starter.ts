/** Starts ready tasks in free slots. */

import { NEVER } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { Attempt } from "../handler/attempt.ts";
import { HandlerCall, type HandlerCallOwner } from "../handler/handler-call.ts";
import type { HeldTasksParts } from "./held-tasks-parts.ts";
import type { RunningCalls } from "./running-calls.ts";
import type { SlotPool } from "./slot-pool.ts";
import type { StartGate } from "./start-gate.ts";

/** The owner of the calls, as the starter sees it. */
export interface TaskStarterOwner extends HandlerCallOwner {
  readonly gate: StartGate;
  readonly running: RunningCalls;
}

/** Begins the calls of handlers for ready tasks. */
export class TaskStarter {
  readonly #parts: HeldTasksParts;
  readonly #owner: TaskStarterOwner;
  #isStarting = false;

  constructor(parts: HeldTasksParts, owner: TaskStarterOwner) {
    this.#parts = parts;
    this.#owner = owner;
  }

  /** Whether `start` runs, so that what ends meanwhile ends within it. */
  get isStarting(): boolean {
    return this.#isStarting;
  }

  /** Starts ready tasks in free slots, those of a pool until `mayGoOn` returns false. */
  start(mayGoOn: (pool: SlotPool, nowMs: number) => boolean): void {
    const { gate } = this.#owner;
    this.#isStarting = true;
    for (const pool of this.#parts.pools) {
      while (pool.ready.size > 0) {
        const nowMs = monotonicMs();
        if (!mayGoOn(pool, nowMs)) break;
        const attempts = pool.next((attempt) => gate.mayStart(attempt));
        if (attempts.length === 0) break;
        this.#call(pool, attempts, nowMs);
      }
    }
    this.#isStarting = false;
  }

  #call(pool: SlotPool, taken: readonly Attempt[], nowMs: number): void {
    const { settings, bytes, totals } = this.#parts;
    const attempts = taken.filter((attempt) => this.#fits(attempt, nowMs) || this.#giveBack(attempt, nowMs));
    if (attempts.length === 0) return;
    bytes.started();
    const { handler } = attempts[0]!;
    const { maxRunMs } = handler.registration;
    const call = new HandlerCall(this.#owner, attempts, nowMs, nowMs + (maxRunMs ?? NEVER));
    for (const attempt of attempts) {
      attempt.begin(call);
      totals.started(attempt);
    }
    pool.begin(handler, attempts.length);
    this.#owner.running.begin(call);
    call.run(settings.hooks);
  }

  /** Whether an attempt that starts now is expected to end before the drain stops and before its lease expires. */
  #fits({ handler, lease }: Attempt, nowMs: number): boolean {
    if (!handler.fits(nowMs)) return false;
    // A lease that will be renewed need not cover the whole run.
    return lease.endsAtMs - nowMs > Math.min(handler.needsMs, this.#parts.settings.leaseMs / 4);
  }

  #giveBack(attempt: Attempt, nowMs: number): false {
    if (attempt.lease.endsAtMs > nowMs) attempt.release();
    else attempt.lose();
    return false;
  }
}
