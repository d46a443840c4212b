import type { Backoff } from "../../core/backoff.ts";
import { monotonicMs } from "../../core/clock.ts";
import type { ClaimRequest } from "../../core/operations/claim.ts";
import type { ClaimResult } from "../../core/operations/claim-result.ts";
import type { LeaseRenewal } from "../../core/operations/lease.ts";
import type { TaskStatus } from "../../core/task.ts";
import type { Wadi } from "../../producer/wadi.ts";
import { Attempt, type AttemptOwner } from "../handler/attempt.ts";
import { HandlerCall, type HandlerCallOwner } from "../handler/handler-call.ts";
import { Lease } from "../handler/lease.ts";
import { reportLate } from "../hooks.ts";
import { CrashIsolation } from "./crash-isolation.ts";
import type { HeldTasksOptions } from "./held-tasks-options.ts";
import { Lanes } from "./lanes.ts";
import { Leases } from "./leases.ts";
import { RunningCalls } from "./running-calls.ts";
import type { SlotPool } from "./slot-pool.ts";
import { Behind } from "./unreturned-calls.ts";

const NEVER = Number.POSITIVE_INFINITY;

/**
 * The tasks a worker holds: those that are ready, those that run, and those that wait to be settled.
 *
 * An outcome ends an attempt, and is sent at once. Its slot, its bytes and its place in a limit belong to the call of the
 * handler, and are free when that has returned or was cut off.
 */
export class HeldTasks implements AttemptOwner, HandlerCallOwner {
  readonly wadi: Wadi;
  readonly backoff: Backoff;
  readonly leaseMs: number;
  readonly newShare: AttemptOwner["newShare"];
  readonly running: RunningCalls;
  /** Claimed, and waiting until a call returns that works on the same task or in the same place of a limit. */
  readonly #behind: Behind;
  /** Ended, and not sent yet. */
  outbox: Attempt[] = [];
  /** When the first of the outbox ended. */
  outboxSinceMs = 0;
  readonly #options: HeldTasksOptions;
  readonly #lanes: Lanes;
  readonly leases: Leases;
  readonly company: CrashIsolation;
  #isStarting = false;

  constructor(options: HeldTasksOptions) {
    this.#options = options;
    this.wadi = options.wadi;
    this.backoff = options.backoff;
    this.leaseMs = options.leaseMs;
    this.newShare = options.newShare;
    this.running = new RunningCalls(options.stopAtMs, options.cutOffMs);
    this.leases = new Leases(options.leaseMs, options.deadlineMs);
    this.company = new CrashIsolation(options.pools, this.running);
    this.#behind = new Behind(options.unreturned, (attempt) => {
      this.#lanes.poolOf(attempt.member).ready.add(attempt);
      this.#wake();
    });
    this.#lanes = new Lanes(options.pools);
  }

  get ready(): number {
    return this.#options.pools.reduce((sum, { ready }) => sum + ready.size, 0);
  }

  /** Whether no task is ready or runs, and none waits for a call to return. */
  get isEmpty(): boolean {
    return this.running.size === 0 && this.ready === 0 && this.#behind.size === 0;
  }

  /** What has ended, for a settlement. */
  takeOutbox(): Attempt[] {
    const attempts = this.outbox;
    this.outbox = [];
    return attempts;
  }

  /** Takes in what a claim brought. What is more than the budget of bytes is handed back. */
  add(claimed: ClaimResult, { workerId, leaseMs }: ClaimRequest, sentAtMs: number): void {
    const { bytes, tally } = this.#options;
    const lease = new Lease(workerId, sentAtMs + leaseMs, claimed.tasks.length);
    const { tasks } = claimed;
    this.#loseClaimed(claimed);
    const lanes = tasks.map((task) => this.#lanes.of(task));
    for (const pool of this.#options.pools) {
      pool.answered(lanes.reduce((count, lane) => (lane.pool === pool ? count + 1 : count), 0));
    }
    if (tasks.length > 0) this.leases.add(lease);
    const attempts = lanes.map(({ member }, i) => new Attempt(this, claimed, i, member, lease));
    for (const pool of this.#options.pools) {
      pool.rotation.took(attempts.filter((_, i) => lanes[i]!.pool === pool));
    }
    for (let i = 0; i < tasks.length; i++) {
      const task = tasks[i]!;
      const { pool, member } = lanes[i]!;
      const attempt = attempts[i]!;
      tally.claim(attempt);
      member.add(task.queue, 1);
      this.company.add(attempt);
      if (bytes.take(attempt.bytes)) {
        if (!this.#behind.takes(attempt)) pool.ready.add(attempt);
      } else {
        attempt.release();
        bytes.handedBack("play");
        pool.hungry = true;
      }
    }
  }

  /** A task that is held and claimed again, or recovered, was held under a lease that is gone. */
  #loseClaimed({ tasks, recovered }: ClaimResult): void {
    if (recovered.length === 0 && !tasks.some(({ attempt }) => attempt > 1)) return;
    const ids = new Set([...recovered, ...tasks].map(({ id }) => id));
    this.lose(({ id }) => ids.has(id));
  }

  #wake(): void {
    if (!this.#isStarting) this.#options.onEnd();
  }

  /** Starts ready tasks in free slots, until `mayGoOn` says no. */
  start(mayGoOn: (pool: SlotPool, nowMs: number) => boolean): void {
    this.#isStarting = true;
    for (const pool of this.#options.pools) {
      while (pool.ready.size > 0) {
        const nowMs = monotonicMs();
        if (!mayGoOn(pool, nowMs)) break;
        const attempts = pool.next((attempt) => this.company.mayStart(attempt));
        if (attempts.length === 0) break;
        this.#deliver(pool, attempts, nowMs);
      }
    }
    this.#isStarting = false;
  }

  #deliver(pool: SlotPool, taken: readonly Attempt[], nowMs: number): void {
    const attempts = taken.filter(
      (attempt) => this.#mayStart(attempt, nowMs) || this.#putBack(attempt, nowMs),
    );
    if (attempts.length === 0) return;
    const { bytes, hooks, stopAtMs, tally } = this.#options;
    bytes.started();
    const { member } = attempts[0]!;
    const { maxRunMs } = member.registration;
    const delivery = new HandlerCall(this, attempts, nowMs, nowMs + (maxRunMs ?? NEVER));
    for (const attempt of attempts) {
      attempt.begin(delivery, stopAtMs);
      tally.start(attempt);
    }
    member.calls++;
    pool.calls++;
    pool.started += attempts.length;
    this.running.begin(delivery);
    delivery.run(hooks);
  }

  /** Whether an attempt that starts now is expected to end in its time and under its lease. */
  #mayStart({ member, lease }: Attempt, nowMs: number): boolean {
    const { needsMs: needMs } = member;
    if (needMs > this.#options.stopAtMs - nowMs) return false;
    // A lease that will be renewed need not cover all of the run.
    return lease.endsAtMs - nowMs > Math.min(needMs, this.leaseMs / 4);
  }

  #putBack(attempt: Attempt, nowMs: number): false {
    if (attempt.lease.endsAtMs > nowMs) attempt.release();
    else attempt.lose();
    return false;
  }

  ended(attempt: Attempt): void {
    if (attempt.settlement === null) {
      this.#options.tally.lose(attempt);
      this.#options.onChange();
    } else if (this.outbox.push(attempt) === 1) this.outboxSinceMs = monotonicMs();
    this.#leave(attempt);
    this.#wake();
  }

  settledExternally(attempt: Attempt, status: TaskStatus): void {
    this.#options.tally.settle([attempt], [{ id: attempt.id, status }]);
    this.#options.onChange();
    this.#leave(attempt);
    this.#wake();
  }

  threwLate(attempt: Attempt, thrown: unknown): void {
    reportLate(this.#options.hooks, thrown, attempt.task);
  }

  internalError(error: unknown): void {
    this.#options.onFault(error);
  }

  #leave(attempt: Attempt): void {
    const { lease, call, meter } = attempt;
    meter.close();
    this.leases.ended(lease);
    if (call === null) {
      this.#free(attempt);
      return;
    }
    if (!call.hasReturned) this.#options.unreturned.add(attempt);
    call.attemptEnded();
  }

  callEnded(delivery: HandlerCall): void {
    const { member } = delivery.attempts[0]!;
    const nowMs = monotonicMs();
    this.running.end(delivery, nowMs);
    member.calls--;
    this.#lanes.poolOf(member).calls--;
    member.hasRun = true;
    member.registration.runs.add(nowMs - delivery.startedAtMs);
    for (const attempt of delivery.attempts) {
      this.#free(attempt);
      this.#options.unreturned.remove(attempt);
    }
    this.#wake();
  }

  #free(attempt: Attempt): void {
    const { bytes, member, task } = attempt;
    this.company.remove(attempt);
    this.#options.bytes.ended(bytes);
    member.add(task.queue, -1);
  }

  /** Hands back what has not started. */
  releaseReady(): void {
    for (const attempt of this.#takeUnstarted(() => true)) attempt.release();
  }

  /** Hands back the last ones of what was claimed ahead while it is more bytes than may be. */
  releaseSurplus(): void {
    const { pools, bytes } = this.#options;
    for (const pool of pools) {
      while (pool.waiting > 0 && bytes.isOver) {
        pool.ready.takeLast()!.release();
        bytes.handedBack("ready");
        pool.hungry = true;
      }
    }
  }

  /** Ready and running ones: whose leases a heartbeat keeps. */
  held(): Attempt[] {
    const attempts: Attempt[] = [];
    for (const delivery of this.running)
      for (const attempt of delivery.attempts) {
        if (!attempt.hasEnded) attempts.push(attempt);
      }
    for (const { ready } of this.#options.pools) attempts.push(...ready);
    attempts.push(...this.#behind);
    return attempts;
  }

  /** Takes in what the database said of the leases of `attempts`; null: they were not extended. */
  renewed(
    attempts: readonly Attempt[],
    renewed: readonly LeaseRenewal[],
    leaseEndsAtMs: number | null,
  ): void {
    const byId = new Map(renewed.map((entry) => [entry.id, entry]));
    for (const attempt of attempts) {
      if (attempt.hasEnded) continue;
      const entry = byId.get(attempt.id);
      if (entry && leaseEndsAtMs !== null) attempt.lease.extend(leaseEndsAtMs);
      attempt.applyRenewal(entry);
    }
    // What is canceled before it started is handed back: the database makes it canceled then.
    const isOver = ({ hasEnded, canceled }: Attempt) => hasEnded || canceled;
    for (const attempt of this.#takeUnstarted(isOver)) attempt.release();
  }

  /** Gives up everything, also what had ended: nobody will ask any more what became of it. */
  giveUp(unanswered: readonly Attempt[] = []): void {
    this.lose(() => true);
    for (const attempt of [...unanswered, ...this.outbox]) this.#options.tally.lose(attempt);
  }

  /** Gives up what is no longer held by this worker. */
  lose(which: (attempt: Attempt) => boolean): void {
    for (const attempt of this.#takeUnstarted(which)) attempt.lose();
    for (const attempt of this.held()) if (which(attempt)) attempt.lose();
  }

  #takeUnstarted(which: (attempt: Attempt) => boolean): Attempt[] {
    const ready = this.#options.pools.flatMap((pool) => pool.ready.takeAll(which));
    return [...ready, ...this.#behind.takeAll(which)];
  }
}
