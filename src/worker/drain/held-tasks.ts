import type { Backoff } from "../../core/backoff.ts";
import type { ClaimRequest } from "../../core/operations/claim.ts";
import type { ClaimResult } from "../../core/operations/claim-result.ts";
import type { LeaseRenewal } from "../../core/operations/lease.ts";
import type { TaskStatus } from "../../core/task.ts";
import type { WadiInternals } from "../../producer/internals.ts";
import { Attempt, type AttemptOwner } from "../handler/attempt.ts";
import { ClaimLease } from "../handler/claim-lease.ts";
import type { HandlerCall } from "../handler/handler-call.ts";
import { reportLateError } from "../hooks.ts";
import type { DrainTime } from "./drain-time.ts";
import type { HeldTasksOptions } from "./held-tasks-options.ts";
import { Leases } from "./leases.ts";
import { Outbox } from "./outbox.ts";
import { RunningCalls } from "./running-calls.ts";
import type { SlotPool } from "./slot-pool.ts";
import { SlotsByLane } from "./slots-by-lane.ts";
import { StartGate } from "./start-gate.ts";
import { TaskStarter } from "./task-starter.ts";
import { UnstartedTasks } from "./unstarted-tasks.ts";

/**
 * The tasks that a drain holds, from claim to settlement: ready or blocked, then running, then in the outbox.
 *
 * An outcome ends an attempt, and is sent without delay. Its slot, its bytes and its place in a limit belong to the
 * handler's call, and are free when that has returned or was cut off.
 */
export class HeldTasks implements AttemptOwner {
  readonly wadi: WadiInternals;
  readonly backoff: Backoff;
  readonly leaseMs: number;
  readonly time: DrainTime;
  readonly newShare: AttemptOwner["newShare"];
  readonly running: RunningCalls;
  readonly outbox = new Outbox();
  readonly leases: Leases;
  readonly gate: StartGate;
  readonly #options: HeldTasksOptions;
  readonly #lanes: SlotsByLane;
  readonly #unstarted: UnstartedTasks;
  readonly #starter: TaskStarter;

  constructor(options: HeldTasksOptions) {
    const { pools, time, leaseMs } = options;
    this.#options = options;
    this.wadi = options.wadi;
    this.backoff = options.backoff;
    this.leaseMs = leaseMs;
    this.time = time;
    this.newShare = options.newShare;
    this.running = new RunningCalls(time);
    this.leases = new Leases(leaseMs, time.deadlineMs);
    this.gate = new StartGate(pools, this.running);
    this.#lanes = new SlotsByLane(pools);
    this.#unstarted = new UnstartedTasks(options, this.#lanes, () => this.#wake());
    const onCallEnded = (call: HandlerCall) => this.#callEnded(call);
    const { gate, running } = this;
    this.#starter = new TaskStarter(options, { gate, running, lanes: this.#lanes, onCallEnded });
  }

  /** How many tasks are ready. */
  get ready(): number {
    return this.#unstarted.ready;
  }

  /** Whether no task is ready, blocked or running. */
  get isEmpty(): boolean {
    return this.running.size === 0 && this.#unstarted.isEmpty;
  }

  #wake(): void {
    if (!this.#starter.isStarting) this.#options.onEnd();
  }

  /** Adds the tasks that a claim brought, and releases those that exceed the budget of bytes. */
  add(claimed: ClaimResult, { workerId, leaseMs }: ClaimRequest, sentAtMs: number): void {
    const { bytes, pools, totals } = this.#options;
    const { tasks } = claimed;
    this.#loseReclaimed(claimed);
    const lease = new ClaimLease(workerId, sentAtMs + leaseMs, tasks.length);
    if (tasks.length > 0) this.leases.add(lease);
    const places = tasks.map((task) => this.#lanes.placeOf(task));
    const attempts = places.map(({ handler }, i) => new Attempt(this, claimed, i, handler, lease));
    for (const pool of pools) pool.claimAnswered(attempts.filter((_, i) => places[i]!.pool === pool));
    for (let i = 0; i < attempts.length; i++) {
      const attempt = attempts[i]!;
      const { pool, handler } = places[i]!;
      totals.claimed(attempt);
      handler.claimed(attempt.task.queue);
      this.gate.add(attempt);
      if (bytes.claimed(attempt.bytes)) {
        this.#unstarted.add(attempt, pool);
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

  /** Starts ready tasks in free slots, those of a pool until `mayGoOn` returns false. */
  start(mayGoOn: (pool: SlotPool, nowMs: number) => boolean): void {
    this.#starter.start(mayGoOn);
  }

  ended(attempt: Attempt): void {
    if (attempt.settlement === null) {
      this.#options.totals.lost(attempt);
      this.#options.onChange();
    } else this.outbox.add(attempt);
    this.#attemptEnded(attempt);
  }

  settledExternally(attempt: Attempt, status: TaskStatus): void {
    this.#options.totals.settled([attempt], [{ id: attempt.id, status }]);
    this.#options.onChange();
    this.#attemptEnded(attempt);
  }

  threwLate(attempt: Attempt, thrown: unknown): void {
    reportLateError(this.#options.hooks, thrown, attempt.task);
  }

  #attemptEnded(attempt: Attempt): void {
    const { lease, call, meter } = attempt;
    meter.close();
    this.leases.ended(lease);
    if (call === null) this.#free(attempt);
    else {
      if (!call.hasReturned) this.#options.unreturned.add(attempt);
      call.attemptEnded();
    }
    this.#wake();
  }

  #callEnded({ attempts }: HandlerCall): void {
    for (const attempt of attempts) {
      this.#free(attempt);
      this.#options.unreturned.remove(attempt);
    }
    this.#wake();
  }

  #free(attempt: Attempt): void {
    const { bytes, handler, task } = attempt;
    this.gate.remove(attempt);
    this.#options.bytes.ended(bytes);
    handler.ended(task.queue);
  }

  /** Releases the tasks that have not started. */
  releaseReady(): void {
    for (const attempt of this.#unstarted.takeAll(() => true)) attempt.release();
  }

  /** Releases the last ready tasks while they have more bytes than may be claimed ahead. */
  releaseSurplus(): void {
    this.#unstarted.releaseSurplus();
  }

  /** The attempts that have not ended: a heartbeat renews their leases. */
  attempts(): Attempt[] {
    const attempts: Attempt[] = [];
    for (const call of this.running)
      for (const attempt of call.attempts) {
        if (!attempt.hasEnded) attempts.push(attempt);
      }
    attempts.push(...this.#unstarted);
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
    for (const attempt of this.#unstarted.takeAll(isOver)) attempt.release();
  }

  /** Counts everything as lost, also the `unanswered` attempts of a settlement: the drain is over without an answer. */
  giveUp(unanswered: readonly Attempt[] = []): void {
    this.lose(() => true);
    for (const attempt of [...unanswered, ...this.outbox.take()]) this.#options.totals.lost(attempt);
  }

  /** Gives up the attempts for which `matches` is true: this worker no longer holds their tasks. */
  lose(matches: (attempt: Attempt) => boolean): void {
    for (const attempt of this.#unstarted.takeAll(matches)) attempt.lose();
    for (const attempt of this.attempts()) if (matches(attempt)) attempt.lose();
  }
}
