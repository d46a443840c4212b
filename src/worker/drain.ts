import { monotonicMs } from "../core/clock.ts";
import { ulid } from "../core/ids.ts";
import type { Claimed, ClaimRequest } from "../core/operations/lease.ts";
import type { CallOptions } from "../core/session.ts";
import { Alarm } from "./alarm.ts";
import { ByteBudget } from "./bytes.ts";
import { Idle } from "./endless.ts";
import { InHand } from "./in-hand.ts";
import { nextTurn } from "./next-turn.ts";
import type { DrainPlan } from "./plan.ts";
import { makePools, type Pool } from "./pools.ts";
import { type DrainStatus, type DrainSummary, Tally } from "./tally.ts";
import { type Cycle, Wire } from "./wire.ts";

const NEVER = Number.POSITIVE_INFINITY;
/** How long settlements wait for more of them while ready tasks are likely to bring some. */
const GATHER_MS = 4;
/** Turns of the microtask queue in which handlers that end at once are gathered into one settlement. */
const GATHER_TURNS = 8;
/** Handlers that never wait may hold the event loop for this long until answers and timers have their turn. */
const TURN_MS = 10;

/**
 * Claims, runs and settles. One that is not endless ends when nothing is due or its time is up, an endless one
 * when its signal aborts. At most one round trip is on its way; handlers go on meanwhile.
 */
export class Drain {
  readonly #plan: DrainPlan;
  readonly #pools: readonly Pool[];
  readonly #bytes: ByteBudget;
  readonly #tally: Tally;
  readonly #wire: Wire;
  readonly #hand: InHand;
  readonly #alarm = new Alarm();
  readonly #idle: Idle | null;
  readonly #stopAtMs: number;
  /** Until the next turn nothing starts, so that requests go out and answers come in. */
  #isHolding = false;
  #turnAtMs = monotonicMs();
  /** Claims sent: the pools take turns in being asked first. */
  #claims = 0;
  /** No claims any more. */
  #isStopping = false;
  /** When handlers are stopped, once nothing is claimed any more. */
  #expireAllAtMs = NEVER;
  /** Tasks claimed when it was last told that nothing is left. */
  #toldAt = 0;
  /** What the last claim said, and when by the local clock. */
  #next = { nextDueAtMs: null as number | null, nowMs: 0, limited: false, atMs: 0 };

  constructor(plan: DrainPlan) {
    const { endless, hooks, wadi, deadlineMs, reserveMs } = plan;
    this.#plan = plan;
    this.#bytes = new ByteBudget(plan);
    this.#pools = makePools(plan.registrations, plan, this.#bytes);
    this.#tally = new Tally(wadi, hooks);
    this.#wire = new Wire(plan, this.#tally, this.#alarm.wake);
    this.#stopAtMs = deadlineMs - reserveMs;
    this.#hand = new InHand({
      ...plan,
      pools: this.#pools,
      bytes: this.#bytes,
      tally: this.#tally,
      stopAtMs: this.#stopAtMs,
      cutOffMs: reserveMs / 4,
      onEnd: this.#alarm.wake,
    });
    this.#idle = endless && new Idle(endless, () => this.#becomeHungry(), hooks);
  }

  /** What it is doing now. */
  get status(): DrainStatus {
    return {
      running: this.#hand.running.names,
      ready: this.#hand.ready,
      slots: this.#pools.reduce((sum, { slots }) => sum + slots, 0),
      totals: this.#tally.summary(this.#next),
    };
  }

  /** Renews all leases with the next round trip. */
  heartbeat(): void {
    this.#hand.leases.renewNow();
    this.#alarm.wake();
  }

  async run(): Promise<DrainSummary> {
    const { signal } = this.#plan;
    signal?.addEventListener("abort", this.#alarm.wake);
    try {
      await this.#loop();
    } finally {
      signal?.removeEventListener("abort", this.#alarm.wake);
      this.#alarm.clear();
      this.#idle?.cancel();
      // Only after failed round trips are there tasks left: they come back when the leases run out.
      this.#hand.giveUp(this.#wire.unanswered?.attempts);
    }
    return this.#tally.drained(this.#next);
  }

  async #loop(): Promise<void> {
    for (;;) {
      const nowMs = monotonicMs();
      this.#stopIfDue(nowMs);
      this.#hand.expire(nowMs);
      if (this.#wire.failures > 0) this.#hand.loseOutlived(nowMs);
      if (!this.#isHolding) this.#start();
      if (this.#wire.failure !== null) throw this.#wire.failure.error;
      if (!this.#wire.isBusy) {
        if (nowMs >= this.#dueAtMs) this.#becomeHungry();
        const atMs = this.#tripAtMs();
        if (atMs <= nowMs) {
          await this.#gather();
          this.#send();
          continue;
        }
        if (this.#isOver(nowMs)) return;
        this.#rest();
        await this.#alarm.until(Math.min(atMs, this.#dueAtMs, this.#eventAtMs));
      } else await this.#alarm.until(this.#eventAtMs);
    }
  }

  /** Starts what is ready, but for the tasks below the low-water mark: the claim that fetches more goes first. */
  #start(): void {
    this.#hand.start((pool, nowMs) => {
      if (nowMs - this.#turnAtMs > TURN_MS) this.#hold();
      const isOff = this.#isHolding || this.#plan.signal?.aborted;
      return !(isOff || (pool.isLow && this.#wantsClaim(pool, nowMs)));
    });
    if (!this.#isHolding) this.#hand.releaseSurplus();
  }

  #hold(): void {
    if (this.#isHolding) return;
    this.#isHolding = true;
    void nextTurn().then(() => {
      this.#isHolding = false;
      this.#turnAtMs = monotonicMs();
      this.#alarm.wake();
    });
  }

  /** Tasks that a claim may bring. */
  get #room(): number {
    if (this.#isStopping) return 0;
    const tasksLeft = this.#plan.maxTasks - this.#tally.claimed;
    if (!this.#bytes.isLimited) return tasksLeft;
    return Math.min(tasksLeft, this.#bytes.room(this.#pools.reduce((sum, { open }) => sum + open, 0)));
  }

  #wantsClaim(pool: Pool, nowMs: number): boolean {
    return pool.wantsMore && !this.#wire.isBusy && nowMs >= this.#wire.retryAtMs && this.#room > 0;
  }

  /** When the next round trip is due. */
  #tripAtMs(): number {
    const { outbox, outboxSinceMs, ready } = this.#hand;
    const isFirst = this.#tally.roundTrips === 0;
    let atMs = this.#hand.leases.heartbeatAtMs;
    if (isFirst || this.#wire.unanswered !== null) atMs = 0;
    else if (this.#pools.some((pool) => pool.wantsMore) && this.#room > 0) atMs = 0;
    else if (outbox.length > 0) {
      const gatheredAtMs = Math.max(outboxSinceMs, this.#wire.answeredAtMs) + GATHER_MS;
      atMs = ready === 0 ? 0 : Math.min(atMs, gatheredAtMs);
    }
    return Math.max(atMs, this.#wire.retryAtMs);
  }

  /** When there is something to do beside round trips. */
  get #eventAtMs(): number {
    const stopAtMs = this.#isStopping ? this.#expireAllAtMs : this.#stopAtMs;
    const lostAtMs = this.#wire.failures > 0 ? this.#hand.leases.endsAtMs : NEVER;
    return Math.min(this.#hand.running.expiresAtMs, stopAtMs, lostAtMs);
  }

  /** When a free slot could be filled by a task that is not due yet, while handlers run and nobody else waits for it. */
  get #dueAtMs(): number {
    if (this.#idle !== null || this.#hand.running.size === 0 || !this.#hasRoom) return NEVER;
    const { nextDueAtMs, nowMs } = this.#next;
    return nextDueAtMs === null || nextDueAtMs <= nowMs ? NEVER : this.#localMs(nextDueAtMs);
  }

  #localMs(databaseMs: number): number {
    return this.#next.atMs + (databaseMs - this.#next.nowMs);
  }

  get #hasRoom(): boolean {
    return this.#room > 0 && this.#pools.some((pool) => pool.isLow && pool.room > 0);
  }

  #becomeHungry(): void {
    for (const pool of this.#pools) pool.hungry = true;
    this.#alarm.wake();
  }

  /** Lets handlers that end in the same turn join one settlement: N tasks cost N / gathered round trips. */
  async #gather(): Promise<void> {
    const { running } = this.#hand;
    if (this.#hand.ready > 0) return;
    for (let turn = 0; turn < GATHER_TURNS && running.size > 0; turn++) await null;
    if (running.size > 0 && this.#hand.outbox.length > 0) await nextTurn();
  }

  #send(): void {
    const nowMs = monotonicMs();
    if (this.#hand.ready > 0) this.#hold();
    if (nowMs >= this.#hand.leases.heartbeatAtMs)
      this.#wire.send("heartbeat", (call) => this.#heartbeat(nowMs, call));
    else this.#wire.send("cycle", (call) => this.#cycle(nowMs, call));
  }

  async #heartbeat(nowMs: number, call: CallOptions): Promise<void> {
    const { wadi, leaseMs } = this.#plan;
    const attempts = this.#hand.held();
    this.#tally.roundTrips++;
    this.#hand.renewed(attempts, await wadi.store.heartbeat(attempts, leaseMs, call), nowMs + leaseMs);
  }

  async #cycle(nowMs: number, call: CallOptions): Promise<void> {
    const cycle = this.#wire.unanswered ?? this.#compose(nowMs);
    const [settled, claimed] = await this.#wire.cycle(cycle, call);
    this.#tally.settle(cycle.attempts, settled);
    if (claimed !== null) this.#take(claimed, cycle);
    if (cycle.resent) this.#becomeHungry(); // it told what a lost try claimed, and claimed nothing itself
  }

  #compose(nowMs: number): Cycle {
    const attempts = this.#hand.outbox;
    this.#hand.outbox = [];
    const isAll = this.#hand.ready === 0 && this.#hand.running.size === 0;
    const isBack = attempts.some(({ settlement }) => "delayMs" in (settlement as object));
    const foundAll = attempts.length > 0 && !isBack && this.#pools.every(({ hungry }) => !hungry);
    // Whoever waits for the last tasks there were is told of them first, and the next look follows. Where tasks wait
    // for a limit, those were not the last: their end has made room.
    const tellsFirst = isAll && foundAll && !this.#next.limited && (this.#idle?.lookSoon() ?? false);
    const looks = !tellsFirst && (isBack || this.#hasRoom || (isAll && this.#idle === null));
    return { attempts, request: looks ? this.#request(nowMs) : null, sentAtMs: nowMs, resent: false };
  }

  /** Every name counts for the next due time, also those that have no room. */
  #request(nowMs: number): ClaimRequest {
    let room = this.#room;
    const first = this.#claims++ % this.#pools.length;
    const pools = [...this.#pools.slice(first), ...this.#pools.slice(0, first)].map((pool) => {
      const asked = pool.ask(pool.isLow ? Math.min(pool.room, room) : 0, this.#stopAtMs - nowMs);
      room -= asked.limit;
      return asked;
    });
    this.#idle?.cancel();
    const { name, leaseMs, learned } = this.#plan;
    return { pools, workerId: `${name}:${ulid()}`, leaseMs, limited: learned.limited };
  }

  #take(claimed: Claimed, { request, sentAtMs }: Cycle): void {
    const { nextDueAtMs, nowMs, limited } = claimed;
    this.#tally.recover(claimed.recovered);
    this.#hand.add(claimed, request!, sentAtMs);
    if (this.#isStopping) this.#hand.releaseReady();
    this.#next = { nextDueAtMs, nowMs, limited, atMs: monotonicMs() };
    if (limited && !request!.limited) this.#becomeHungry();
    this.#plan.learned.limited = limited;
  }

  #stopIfDue(nowMs: number): void {
    const { signal, endless } = this.#plan;
    const isAborted = signal?.aborted ?? false;
    if (!this.#isStopping && (isAborted || nowMs >= this.#stopAtMs)) {
      this.#isStopping = true;
      this.#idle?.cancel();
      this.#hand.releaseReady();
      this.#expireAllAtMs = nowMs + (endless?.graceMs ?? 0);
      if (endless !== null) this.#wire.endSoon(nowMs, endless.graceMs);
    }
    if (nowMs < this.#expireAllAtMs) return;
    this.#expireAllAtMs = NEVER;
    this.#hand.expireAll(isAborted ? "was stopped by its worker" : "ran until its drain was over", nowMs);
  }

  #isOver(nowMs: number): boolean {
    if (this.#hand.running.size > 0 || (this.#idle !== null && !this.#isStopping)) return false;
    if (this.#wire.failures > 0) return this.#wire.givesUp(nowMs, this.#hand.outbox.length);
    return this.#hand.ready === 0 && this.#hand.outbox.length === 0;
  }

  /** Before it waits: whoever makes a drain endless says when to look again. */
  #rest(): void {
    if (this.#idle === null || this.#isStopping || this.#wire.failures > 0) return;
    const { ready, running } = this.#hand;
    if (ready === 0 && running.size === 0 && this.#tally.claimed > this.#toldAt) {
      this.#toldAt = this.#tally.claimed;
      this.#tally.drained(this.#next);
    }
    if (this.#idle.isWaiting || !this.#hasRoom) return;
    const { nextDueAtMs, limited } = this.#next;
    this.#idle.wait(nextDueAtMs === null ? NEVER : this.#localMs(nextDueAtMs), limited);
  }
}
