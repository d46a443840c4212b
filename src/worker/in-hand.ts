import type { Backoff } from "../core/backoff.ts";
import { monotonicMs } from "../core/clock.ts";
import type { Claimed, ClaimRequest, Renewed } from "../core/operations/lease.ts";
import type { TaskStatus } from "../core/task.ts";
import type { Wadi } from "../producer/wadi.ts";
import { Attempt, type AttemptOwner, type Lease } from "./attempt.ts";
import type { ByteBudget } from "./bytes.ts";
import { Delivery } from "./delivery.ts";
import type { WorkerHooks } from "./hooks.ts";
import type { Member, Pool } from "./pools.ts";
import { laneKey } from "./registration.ts";
import type { Tally } from "./tally.ts";

const NEVER = Number.POSITIVE_INFINITY;

export interface InHandOptions {
  readonly wadi: Wadi;
  readonly hooks: WorkerHooks;
  readonly backoff: Backoff;
  readonly leaseMs: number;
  /** When the drain is over. */
  readonly deadlineMs: number;
  /** When handlers are stopped. */
  readonly stopAtMs: number;
  /** How long an aborted handler may take to come back before it is cut off, in milliseconds. */
  readonly cutOffMs: number;
  readonly pools: readonly Pool[];
  readonly bytes: ByteBudget;
  readonly tally: Tally;
  /** Called when attempts ended outside of a call of `start`. */
  readonly onEnd: () => void;
}

/** The tasks a worker holds: those that are ready, those that run, and those that wait to be settled. */
export class InHand implements AttemptOwner {
  readonly wadi: Wadi;
  readonly backoff: Backoff;
  readonly leaseMs: number;
  readonly running = new Set<Delivery>();
  /** Ended, and not sent yet. */
  outbox: Attempt[] = [];
  /** When the first of the outbox ended. */
  outboxSinceMs = 0;
  /** When `expire` has something to do, at the earliest. */
  expiresAtMs = NEVER;
  readonly #options: InHandOptions;
  readonly #lanes = new Map<string, { pool: Pool; member: Member }>();
  readonly #pools = new Map<Member, Pool>();
  readonly #leases = new Set<Lease>();
  #isStarting = false;

  constructor(options: InHandOptions) {
    this.#options = options;
    this.wadi = options.wadi;
    this.backoff = options.backoff;
    this.leaseMs = options.leaseMs;
    for (const pool of options.pools) {
      for (const member of pool.members) {
        const { name, queues } = member.registration;
        for (const queue of queues) this.#lanes.set(laneKey({ queue, name }), { pool, member });
        this.#pools.set(member, pool);
      }
    }
  }

  get ready(): number {
    return this.#options.pools.reduce((sum, { ready }) => sum + ready.size, 0);
  }

  /** When the first lease of a ready or running task runs out, by the local clock. */
  get leaseEndsAtMs(): number {
    let at = NEVER;
    for (const { endsAtMs } of this.#leases) at = Math.min(at, endsAtMs);
    return at;
  }

  /** Half a lease before the first lease runs out; never while all leases outlast the drain. */
  get heartbeatAtMs(): number {
    const { leaseEndsAtMs } = this;
    return leaseEndsAtMs <= this.#options.deadlineMs ? leaseEndsAtMs - this.leaseMs / 2 : NEVER;
  }

  /** Takes in what a claim brought. What is more than the budget of bytes is handed back. */
  add(claimed: Claimed, { workerId, leaseMs }: ClaimRequest, sentAtMs: number): void {
    const { bytes, tally } = this.#options;
    const lease: Lease = { workerId, endsAtMs: sentAtMs + leaseMs, inPlay: claimed.tasks.length };
    const { tasks, bytes: sizes, nowMs } = claimed;
    const lanes = tasks.map((task) => this.#lanes.get(laneKey(task))!);
    for (const pool of this.#options.pools) {
      pool.answered(lanes.reduce((count, lane) => (lane.pool === pool ? count + 1 : count), 0));
    }
    if (tasks.length > 0) this.#leases.add(lease);
    for (let i = 0; i < tasks.length; i++) {
      const task = tasks[i]!;
      const { pool, member } = lanes[i]!;
      const attempt = new Attempt(this, task, member, lease, { bytes: sizes[i]!, nowMs });
      tally.claim(attempt);
      member.add(task.queue, 1);
      if (bytes.take(attempt.bytes)) pool.ready.add(attempt);
      else {
        attempt.release();
        bytes.handedBack("play");
        pool.hungry = true;
      }
    }
  }

  /** Starts ready tasks in free slots, until `mayGoOn` says no. */
  start(mayGoOn: (pool: Pool, nowMs: number) => boolean): void {
    this.#isStarting = true;
    for (const pool of this.#options.pools) {
      while (pool.ready.size > 0) {
        const nowMs = monotonicMs();
        if (!mayGoOn(pool, nowMs)) break;
        const attempts = pool.next();
        if (attempts.length === 0) break;
        this.#deliver(pool, attempts, nowMs);
      }
    }
    this.#isStarting = false;
  }

  #deliver(pool: Pool, taken: readonly Attempt[], nowMs: number): void {
    const attempts = taken.filter(
      (attempt) => this.#mayStart(attempt, nowMs) || this.#putBack(attempt, nowMs),
    );
    if (attempts.length === 0) return;
    const { bytes, hooks, stopAtMs, tally } = this.#options;
    bytes.started();
    const { member } = attempts[0]!;
    const { maxRunMs } = member.registration;
    const delivery = new Delivery(attempts, nowMs + (maxRunMs ?? NEVER));
    for (const attempt of attempts) {
      attempt.delivery = delivery;
      attempt.startedAtMs = nowMs;
      attempt.deadlineMs = Math.min(delivery.expiresAtMs, stopAtMs);
      tally.start(attempt);
    }
    member.calls++;
    pool.calls++;
    pool.started += attempts.length;
    this.running.add(delivery);
    if (delivery.expiresAtMs < stopAtMs) this.expiresAtMs = Math.min(this.expiresAtMs, delivery.expiresAtMs);
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
    this.#leave(attempt);
    if (attempt.settlement === null) this.#options.tally.lose(attempt);
    else if (this.outbox.push(attempt) === 1) this.outboxSinceMs = monotonicMs();
    if (!this.#isStarting) this.#options.onEnd();
  }

  endedElsewhere(attempt: Attempt, status: TaskStatus): void {
    this.#leave(attempt);
    this.#options.tally.settle([attempt], [{ id: attempt.id, status }]);
    if (!this.#isStarting) this.#options.onEnd();
  }

  #leave(attempt: Attempt): void {
    const { member, lease, delivery, task } = attempt;
    this.#options.bytes.ended(attempt.bytes);
    member.add(task.queue, -1);
    if (--lease.inPlay === 0) this.#leases.delete(lease);
    if (delivery === null) return;
    member.hasRun = true;
    member.registration.runs.add(attempt.durationMs);
    if (--delivery.left > 0) return;
    this.running.delete(delivery);
    member.calls--;
    this.#pools.get(member)!.calls--;
  }

  /** Hands back what has not started. */
  releaseReady(): void {
    for (const { ready } of this.#options.pools) for (const attempt of ready.takeAll()) attempt.release();
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

  /** Stops the handlers whose time is up, and cuts off those that were stopped and did not come back. */
  expire(nowMs: number): void {
    if (nowMs < this.expiresAtMs) return;
    this.expiresAtMs = NEVER;
    for (const delivery of [...this.running]) {
      const { maxRunMs } = delivery.registration;
      if (nowMs >= delivery.expiresAtMs)
        delivery.expire(`ran longer than its maxRunMs of ${maxRunMs} ms`, nowMs + this.#options.cutOffMs);
      if (nowMs >= delivery.cutOffAtMs) delivery.cutOff();
      else this.expiresAtMs = Math.min(this.expiresAtMs, delivery.cutOffAtMs, delivery.expiresAtMs);
    }
  }

  expireAll(why: string, nowMs: number): void {
    for (const delivery of this.running) delivery.expire(why, nowMs + this.#options.cutOffMs);
    this.expiresAtMs = Math.min(this.expiresAtMs, nowMs + this.#options.cutOffMs);
  }

  /** Ready and running ones: whose leases a heartbeat keeps. */
  held(): Attempt[] {
    const attempts: Attempt[] = [];
    for (const delivery of this.running)
      for (const attempt of delivery.attempts) {
        if (!attempt.hasEnded) attempts.push(attempt);
      }
    for (const { ready } of this.#options.pools) attempts.push(...ready);
    return attempts;
  }

  /** Makes a heartbeat due. */
  renewNow(): void {
    for (const lease of this.#leases)
      lease.endsAtMs = Math.min(lease.endsAtMs, monotonicMs() + this.leaseMs / 2);
  }

  /** Takes in the answer of a heartbeat that was sent for `attempts`. */
  renewed(attempts: readonly Attempt[], renewed: readonly Renewed[], leaseEndsAtMs: number): void {
    const byId = new Map(renewed.map((entry) => [entry.id, entry]));
    for (const attempt of attempts) {
      if (attempt.hasEnded) continue;
      const entry = byId.get(attempt.id);
      if (entry) attempt.lease.endsAtMs = leaseEndsAtMs;
      attempt.learn(entry);
    }
    for (const { ready } of this.#options.pools) {
      // What is canceled before it started is handed back: the database makes it canceled then.
      for (const attempt of ready.takeAll(({ hasEnded, canceled }) => hasEnded || canceled))
        attempt.release();
    }
  }

  /** Gives up what may be somebody else's by now. */
  loseOutlived(nowMs: number): void {
    this.#lose(({ lease }) => lease.endsAtMs <= nowMs);
  }

  /** Gives up everything, also what had ended: nobody will ask any more what became of it. */
  giveUp(unanswered: readonly Attempt[] = []): void {
    this.#lose(() => true);
    for (const attempt of [...unanswered, ...this.outbox]) this.#options.tally.lose(attempt);
  }

  #lose(which: (attempt: Attempt) => boolean): void {
    for (const { ready } of this.#options.pools) for (const attempt of ready.takeAll(which)) attempt.lose();
    for (const attempt of this.held()) if (which(attempt)) attempt.lose();
  }
}
