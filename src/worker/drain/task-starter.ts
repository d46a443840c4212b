/** Starts ready tasks in free slots. */

import { NEVER } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { Attempt } from "../handler/attempt.ts";
import { HandlerCall, type HandlerCallOwner } from "../handler/handler-call.ts";
import { reportLateError } from "../hooks.ts";
import type { HeldTasksOptions } from "./held-tasks-options.ts";
import type { RunningCalls } from "./running-calls.ts";
import type { SlotPool } from "./slot-pool.ts";
import type { SlotsByLane } from "./slots-by-lane.ts";
import type { StartGate } from "./start-gate.ts";

export interface TaskStarterParts {
  readonly gate: StartGate;
  readonly running: RunningCalls;
  readonly lanes: SlotsByLane;
  /** Called when a call has ended, and its slot is free again. */
  onCallEnded(call: HandlerCall): void;
}

/** Begins the calls of handlers for ready tasks, and ends them when they have returned. */
export class TaskStarter implements HandlerCallOwner {
  readonly #options: HeldTasksOptions;
  readonly #parts: TaskStarterParts;
  #isStarting = false;

  constructor(options: HeldTasksOptions, parts: TaskStarterParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Whether `start` runs, so that what ends meanwhile ends within it. */
  get isStarting(): boolean {
    return this.#isStarting;
  }

  /** Starts ready tasks in free slots, those of a pool until `mayGoOn` returns false. */
  start(mayGoOn: (pool: SlotPool, nowMs: number) => boolean): void {
    const { gate } = this.#parts;
    this.#isStarting = true;
    for (const pool of this.#options.pools) {
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
    const { bytes, hooks, totals } = this.#options;
    const attempts = taken.filter((attempt) => this.#fits(attempt, nowMs) || this.#giveBack(attempt, nowMs));
    if (attempts.length === 0) return;
    bytes.started();
    const { handler } = attempts[0]!;
    const { maxRunMs } = handler.registration;
    const call = new HandlerCall(this, attempts, nowMs, nowMs + (maxRunMs ?? NEVER));
    for (const attempt of attempts) {
      attempt.begin(call);
      totals.started(attempt);
    }
    pool.begin(handler, attempts.length);
    this.#parts.running.begin(call);
    call.run(hooks);
  }

  /** Whether an attempt that starts now is expected to end before the drain stops and before its lease expires. */
  #fits({ handler, lease }: Attempt, nowMs: number): boolean {
    if (!handler.fits(nowMs)) return false;
    // A lease that will be renewed need not cover the whole run.
    return lease.endsAtMs - nowMs > Math.min(handler.needsMs, this.#options.leaseMs / 4);
  }

  #giveBack(attempt: Attempt, nowMs: number): false {
    if (attempt.lease.endsAtMs > nowMs) attempt.release();
    else attempt.lose();
    return false;
  }

  callEnded(call: HandlerCall): void {
    const { running, lanes, onCallEnded } = this.#parts;
    const { handler } = call.attempts[0]!;
    const nowMs = monotonicMs();
    running.end(call, nowMs);
    lanes.poolOf(handler).end(handler, nowMs - call.startedAtMs);
    onCallEnded(call);
  }

  internalError(error: unknown): void {
    this.#options.onInternalError(error);
  }

  threwLate(attempt: Attempt, thrown: unknown): void {
    reportLateError(this.#options.hooks, thrown, attempt.task);
  }
}
