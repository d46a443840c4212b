import type { Backoff } from "../../core/backoff.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { ClaimRequest } from "../../core/operations/claim.ts";
import type { ClaimResult } from "../../core/operations/claim-result.ts";
import type { LeaseRenewal } from "../../core/operations/lease.ts";
import type { WadiInternals } from "../../producer/internals.ts";
import { Attempt, type AttemptOwner } from "../handler/attempt.ts";
import { ClaimLease } from "../handler/claim-lease.ts";
import type { HandlerCall } from "../handler/handler-call.ts";
import { QueryShare } from "../handler/query-share.ts";
import { reportLateError } from "../hooks.ts";
import type { DrainTime } from "./drain-time.ts";
import type { HeldTasksParts } from "./held-tasks-parts.ts";
import { Leases } from "./leases.ts";
import { Outbox } from "./outbox.ts";
import { RunningCalls } from "./running-calls.ts";
import { slotsByLane } from "./slots-by-lane.ts";
import { StartGate } from "./start-gate.ts";
import { TaskStarter, type TaskStarterOwner } from "./task-starter.ts";
import { UnstartedTasks } from "./unstarted-tasks.ts";

/**
 * The tasks that a drain holds, from claim to settlement: ready or blocked, then running, then in the outbox.
 *
 * An outcome ends an attempt, and is sent without delay. Its slot, its bytes and its place in a limit belong to the
 * handler's call, and are free when that has returned or was cut off.
 */
export class HeldTasks implements AttemptOwner, TaskStarterOwner {
  readonly wadi: WadiInternals;
  readonly backoff: Backoff;
  readonly leaseMs: number;
  readonly time: DrainTime;
  readonly running: RunningCalls;
  readonly outbox = new Outbox();
  readonly leases: Leases;
  readonly gate: StartGate;
  readonly unstarted: UnstartedTasks;
  readonly starter: TaskStarter;
  readonly #parts: HeldTasksParts;
  readonly #slotsOf: ReturnType<typeof slotsByLane>;

  constructor(parts: HeldTasksParts) {
    const { settings, pools, time } = parts;
    this.#parts = parts;
    this.wadi = settings.wadi;
    this.backoff = settings.backoff;
    this.leaseMs = settings.leaseMs;
    this.time = time;
    this.running = new RunningCalls(time);
    this.leases = new Leases(settings);
    this.gate = new StartGate(pools, this.running);
    this.unstarted = new UnstartedTasks(parts, () => this.#wake());
    this.starter = new TaskStarter(parts, this);
    this.#slotsOf = slotsByLane(pools);
  }

  newShare(): QueryShare {
    return new QueryShare(this.#parts.queries);
  }

  /** How many tasks are ready. */
  get ready(): number {
    return this.unstarted.ready;
  }

  /** Whether no task is ready, blocked or running. */
  get isEmpty(): boolean {
    return this.running.size === 0 && this.unstarted.isEmpty;
  }

  #wake(): void {
    if (!this.starter.isStarting) this.#parts.waiting.wake();
  }

  /** Adds the tasks that a claim brought, and releases those that exceed the budget of bytes. */
  add(result: ClaimResult, { workerId, leaseMs }: ClaimRequest, sentAtMs: number): void {
    const { bytes, pools, totals } = this.#parts;
    const { claimed } = result;
    this.#loseReclaimed(result);
    const lease = new ClaimLease(workerId, sentAtMs + leaseMs, claimed.length);
    if (claimed.length > 0) this.leases.add(lease);
    const slots = claimed.map(({ task }) => this.#slotsOf(task));
    const attempts = claimed.map((each, i) => new Attempt(this, each, result, slots[i]!.handler, lease));
    for (const pool of pools) pool.claimAnswered(attempts.filter((_, i) => slots[i]!.pool === pool));
    for (let i = 0; i < attempts.length; i++) {
      const attempt = attempts[i]!;
      const { pool, handler } = slots[i]!;
      totals.claimed(attempt);
      handler.claimed(attempt.task.queue);
      this.gate.add(attempt);
      if (bytes.claimed(attempt.bytes)) {
        this.unstarted.add(attempt, pool);
      } else {
        attempt.release();
        bytes.overflowed();
        pool.expectDueTasks();
      }
    }
  }

  /** If a held task is claimed again or recovered, the lease under which it is held has expired. */
  #loseReclaimed({ tasks, recovered }: ClaimResult): void {
    if (recovered.length === 0 && !tasks.some(({ attempt }) => attempt > 1)) return;
    const ids = new Set([...recovered, ...tasks].map(({ id }) => id));
    this.lose(({ id }) => ids.has(id));
  }

  ended(attempt: Attempt): void {
    if (attempt.settlement === null) {
      this.#parts.totals.lost(attempt);
      this.#parts.cycles.invalidate();
    } else this.outbox.add(attempt);
    this.#attemptEnded(attempt);
  }

  settledExternally(attempt: Attempt): void {
    this.#parts.totals.settled([attempt], [{ id: attempt.id, status: "succeeded" }]);
    this.#parts.cycles.invalidate();
    this.#attemptEnded(attempt);
  }

  threwLate(attempt: Attempt, thrown: unknown): void {
    reportLateError(this.#parts.settings.hooks, thrown, attempt.task);
  }

  #attemptEnded(attempt: Attempt): void {
    const { lease, call, meter } = attempt;
    meter.close();
    this.leases.ended(lease);
    if (call === null) this.#free(attempt);
    else {
      if (!call.hasReturned) this.#parts.settings.unreturned.add(attempt);
      call.attemptEnded();
    }
    this.#wake();
  }

  internalError(error: unknown): void {
    this.#parts.trips.fail(error);
  }

  callEnded(call: HandlerCall): void {
    const { attempts, startedAtMs } = call;
    const { pool, handler } = this.#slotsOf(attempts[0]!.task);
    const nowMs = monotonicMs();
    this.running.end(call, nowMs);
    pool.end(handler, nowMs - startedAtMs);
    for (const attempt of attempts) {
      this.#free(attempt);
      this.#parts.settings.unreturned.remove(attempt);
    }
    this.#wake();
  }

  #free(attempt: Attempt): void {
    const { bytes, handler, task } = attempt;
    this.gate.remove(attempt);
    this.#parts.bytes.ended(bytes);
    handler.ended(task.queue);
  }

  /** Releases the tasks that have not started. */
  releaseReady(): void {
    for (const attempt of this.unstarted.takeAll(() => true)) attempt.release();
  }

  /** The attempts that have not ended: a heartbeat renews their leases. */
  attempts(): Attempt[] {
    const attempts: Attempt[] = [];
    for (const call of this.running)
      for (const attempt of call.attempts) {
        if (!attempt.hasEnded) attempts.push(attempt);
      }
    attempts.push(...this.unstarted);
    return attempts;
  }

  /**
   * Applies what the database reports about the leases of `attempts`; `leaseEndsAtMs` is null if they were not
   * extended.
   */
  applyRenewals(
    attempts: readonly Attempt[],
    renewals: readonly LeaseRenewal[],
    leaseEndsAtMs: number | null,
  ): void {
    const byId = new Map(renewals.map((renewal) => [renewal.id, renewal]));
    for (const attempt of attempts) {
      if (attempt.hasEnded) continue;
      const renewal = byId.get(attempt.id);
      if (renewal && leaseEndsAtMs !== null) attempt.lease.extend(leaseEndsAtMs);
      attempt.applyRenewal(renewal);
    }
    // A task that is canceled before it started is released: the database then makes it canceled.
    const isOver = ({ hasEnded, canceled }: Attempt) => hasEnded || canceled;
    for (const attempt of this.unstarted.takeAll(isOver)) attempt.release();
  }

  /** Counts everything as lost, also the `unanswered` attempts of a settlement: the drain is over without an answer. */
  giveUp(unanswered: readonly Attempt[] = []): void {
    if (!this.isEmpty) this.lose(() => true);
    for (const attempt of [...unanswered, ...this.outbox.take()]) this.#parts.totals.lost(attempt);
  }

  /** Gives up the attempts for which `matches` is true: this worker no longer holds their tasks. */
  lose(matches: (attempt: Attempt) => boolean): void {
    for (const attempt of this.unstarted.takeAll(matches)) attempt.lose();
    for (const attempt of this.attempts()) if (matches(attempt)) attempt.lose();
  }
}
