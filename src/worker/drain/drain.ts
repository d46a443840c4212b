import { monotonicMs } from "../../core/clock.ts";
import type { CallOptions } from "../../core/session/call-options.ts";
import type { DrainStatus, DrainSummary } from "../drain-summary.ts";
import { QueryShare } from "../handler/query-share.ts";
import { report } from "../hooks.ts";
import { ByteBudget } from "./byte-budget.ts";
import { type DrainSettings, pollsOf } from "./drain-options.ts";
import { watchDrain } from "./event-loop-blocks.ts";
import { Exchange } from "./exchange.ts";
import { HeldTasks } from "./held-tasks.ts";
import { Intake } from "./intake.ts";
import { Outlook } from "./outlook.ts";
import type { PollSchedule } from "./poll-schedule.ts";
import { QueryBudget } from "./query-budget.ts";
import { RoundTrips } from "./round-trips.ts";
import { makeSlotPools, type SlotPool } from "./slot-pool.ts";
import { Tally } from "./tally.ts";
import { TripSchedule } from "./trip-schedule.ts";
import { Turns } from "./turns.ts";
import { Wakeup } from "./wakeup.ts";

const NEVER = Number.POSITIVE_INFINITY;

/**
 * Claims, runs and settles, in one loop with one round trip on its way at most. Its state is what the loop does next:
 *
 * - claiming: slots are free and tasks may be due. A trip settles what has ended, claims, and asks when more is due.
 * - gathering: what has ended waits a moment for more of its kind. Then a trip settles it, and claims if there is room.
 * - running: handlers run and nothing is to be sent. Free slots are filled on news of tasks, by polls, or when one is due.
 * - lingering: nothing is held, and a retry of this drain is due shortly. Only a drain that ends lingers.
 * - idle: nothing is held and nothing is due. Only an endless drain stays so, until news or a poll.
 * - stopping: the time is up, or a signal has aborted. Nothing is claimed, what has not started is released, the rest is
 *   settled when its handlers end or their grace does.
 *
 * A drain that is not endless is over once nothing is held and a claim that saw the present brought nothing: whatever has
 * changed since the last claim (a task that settled by itself, a submit through the same Wadi) makes it claim once more.
 */
export class Drain {
  readonly #plan: DrainSettings;
  readonly #pools: readonly SlotPool[];
  readonly #tally: Tally;
  readonly #wire: RoundTrips;
  readonly #hand: HeldTasks;
  readonly #intake: Intake;
  readonly #outlook = new Outlook();
  readonly #polls: PollSchedule;
  readonly #exchange: Exchange;
  readonly #schedule: TripSchedule;
  readonly budget: QueryBudget;
  readonly #alarm = new Wakeup();
  readonly #turns = new Turns(this.#alarm.wake, (error) => this.#wire.fault(error));
  readonly #stopAtMs: number;
  #isStopping = false;
  /** When handlers are stopped, once nothing is claimed any more. */
  #expireAllAtMs = NEVER;
  /** Tasks claimed when it was last reported that nothing is left. */
  #reportedAt = 0;

  constructor(plan: DrainSettings) {
    const { hooks, wadi, deadlineMs, reserveMs, registrations } = plan;
    const bytes = new ByteBudget(plan);
    this.#plan = plan;
    this.#pools = makeSlotPools(registrations, plan, bytes);
    this.#stopAtMs = deadlineMs - reserveMs;
    this.budget = new QueryBudget({ ...plan, pools: this.#pools.length, stopAtMs: this.#stopAtMs });
    const { meter } = this.budget;
    this.#tally = new Tally(wadi, hooks, meter);
    this.#tally.leftOut.skip(plan.skipped);
    this.#polls = pollsOf(plan);
    this.#hand = new HeldTasks({
      ...plan,
      pools: this.#pools,
      bytes,
      tally: this.#tally,
      newShare: () => new QueryShare(this.budget),
      stopAtMs: this.#stopAtMs,
      cutOffMs: reserveMs / 4,
      onEnd: this.#alarm.wake,
      onFault: (error) => this.#wire.fault(error),
      onChange: () => this.#exchange.changed(),
    });
    this.#intake = new Intake(plan, this.#pools, bytes, this.#tally, this.budget, this.#hand);
    this.#wire = new RoundTrips(plan, this.#tally, this.#hand, meter, this.#alarm.wake);
    const parts = {
      plan,
      tally: this.#tally,
      hand: this.#hand,
      intake: this.#intake,
      outlook: this.#outlook,
      polls: this.#polls,
      budget: this.budget,
      stopAtMs: this.#stopAtMs,
    };
    this.#exchange = new Exchange(parts);
    this.#schedule = new TripSchedule(parts, this.#exchange, this.#wire);
  }

  /** What it is doing now. */
  get status(): DrainStatus {
    return {
      running: this.#hand.running.names,
      ready: this.#hand.ready,
      slots: this.#pools.reduce((sum, { slots }) => sum + slots, 0),
      totals: this.#tally.summary(this.#outlook.last),
    };
  }

  async run(): Promise<DrainSummary> {
    const { signal, wadi, endless, hooks } = this.#plan;
    signal?.addEventListener("abort", this.#alarm.wake);
    const hear = (queues: readonly string[] | null, error?: unknown) => {
      if (error !== undefined) report(hooks, error, "listen");
      if (this.#exchange.hear(queues)) this.#alarm.wake();
    };
    const unlisten = endless === null ? wadi.signals.whileQueued(hear) : wadi.signals.onQueued(hear);
    const heed = (ids: readonly string[] | null) => this.#canceled(ids);
    const unheed = endless === null ? wadi.signals.whileCanceled(heed) : wadi.signals.onCanceled(heed);
    const { running } = this.#hand;
    const watch = watchDrain(this.#plan, running, () => {
      this.#hand.leases.renewNow();
      this.#alarm.wake();
    });
    try {
      await this.#loop();
    } finally {
      unlisten();
      unheed();
      signal?.removeEventListener("abort", this.#alarm.wake);
      this.#wire.close();
      // Only after failed round trips are there tasks left: they come back when the leases expire.
      this.#hand.giveUp(this.#wire.unanswered?.attempts);
      await running.returned(this.#alarm.until.bind(this.#alarm));
      watch.stop();
      this.#alarm.clear();
    }
    return this.#tally.drained(endless === null ? this.#outlook.next(monotonicMs()) : this.#outlook.last);
  }

  async #loop(): Promise<void> {
    for (;;) {
      const nowMs = monotonicMs();
      this.#stopIfDue(nowMs);
      this.#hand.running.expire(nowMs);
      if (this.#wire.failures > 0) this.#hand.lose(({ lease }) => lease.endsAtMs <= nowMs);
      if (!this.#turns.isYielding) this.#start();
      if (this.#wire.failure !== null) break;
      if (!this.#wire.isBusy) {
        this.#schedule.notice(nowMs);
        if (nowMs >= this.#schedule.pollAtMs || (this.#exchange.hasNews && this.#intake.hasRoom))
          this.#intake.becomeHungry();
        if (this.#tripAtMs <= nowMs) {
          if (this.#hand.ready === 0) await this.#turns.gather(this.#hand);
          this.#send();
          continue;
        }
        if (this.#isOver(nowMs)) break;
        this.#rest(nowMs);
        await this.#alarm.until(Math.min(this.#tripAtMs, this.#schedule.pollAtMs, this.#eventAtMs));
      } else await this.#alarm.until(this.#eventAtMs);
    }
    if (this.#wire.failure !== null) throw this.#wire.failure.error;
  }

  /** Starts what is ready, but for the tasks below the low-water mark: the claim that fetches more goes first. */
  #start(): void {
    this.#hand.start((pool, nowMs) => {
      this.#turns.check(nowMs);
      const isOff = this.#turns.isYielding || this.#plan.signal?.aborted;
      return !(isOff || (pool.isLow && this.#wantsClaim(pool, nowMs)));
    });
    if (!this.#turns.isYielding) this.#hand.releaseSurplus();
  }

  #wantsClaim(pool: SlotPool, nowMs: number): boolean {
    if (!pool.wantsMore || this.#wire.isBusy || this.#intake.room === 0) return false;
    return nowMs >= Math.max(this.#wire.retryAtMs, this.#schedule.gatherUntilMs);
  }

  /** When the next round trip is due. */
  get #tripAtMs(): number {
    const { cycleAtMs, heartbeatAtMs, checkAtMs } = this.#schedule;
    return Math.min(cycleAtMs, heartbeatAtMs, checkAtMs);
  }

  /** When there is something to do that is no round trip. */
  get #eventAtMs(): number {
    const stopAtMs = this.#isStopping ? this.#expireAllAtMs : this.#stopAtMs;
    const lostAtMs = this.#wire.failures > 0 ? this.#hand.leases.endsAtMs : NEVER;
    return Math.min(this.#hand.running.expiresAtMs, stopAtMs, lostAtMs);
  }

  #send(): void {
    const nowMs = monotonicMs();
    if (this.#hand.ready > 0) this.#turns.yield();
    if (nowMs >= this.#schedule.heartbeatAtMs)
      this.#wire.send("heartbeat", (call) => this.#heartbeat(nowMs, call));
    else if (nowMs >= this.#schedule.cycleAtMs)
      this.#wire.send("settleAndClaim", (call) => this.#cycle(nowMs, call));
    else this.#wire.send("cancelPoll", (call) => this.#check(nowMs, call));
  }

  async #heartbeat(nowMs: number, call: CallOptions): Promise<void> {
    const { wadi, leaseMs } = this.#plan;
    const attempts = this.#hand.held();
    this.#tally.roundTrips++;
    this.#hand.renewed(attempts, await wadi.store.heartbeat(attempts, leaseMs, call), nowMs + leaseMs);
    this.#schedule.checked(nowMs);
  }

  /** Asks which of the tasks that are held were canceled. */
  async #check(nowMs: number, call: CallOptions): Promise<void> {
    const attempts = this.#hand.held();
    this.#tally.roundTrips++;
    this.#hand.renewed(attempts, await this.#plan.wadi.store.checkLeases(attempts, call), null);
    this.#schedule.checked(nowMs);
  }

  /** Tasks were canceled; null: it is not known which. */
  #canceled(ids: readonly string[] | null): void {
    if (ids === null) this.#schedule.checked(Number.NEGATIVE_INFINITY);
    else {
      const attempts = this.#hand.held().filter(({ id }) => ids.includes(id));
      const canceled = attempts.map(({ id }) => ({ id, cancelRequested: true }));
      this.#hand.renewed(attempts, canceled, null);
    }
    this.#alarm.wake();
  }

  async #cycle(nowMs: number, call: CallOptions): Promise<void> {
    const cycle = this.#wire.unanswered ?? this.#exchange.compose(nowMs);
    this.#exchange.answered(cycle, await this.#wire.cycle(cycle, call));
    this.#schedule.cycled(monotonicMs());
    if (this.#isStopping) this.#hand.releaseReady();
  }

  #stopIfDue(nowMs: number): void {
    const { signal, endless } = this.#plan;
    const isAborted = signal?.aborted ?? false;
    if (!this.#isStopping && (isAborted || nowMs >= this.#stopAtMs)) {
      this.#isStopping = true;
      this.#intake.close();
      this.#polls.cancel();
      this.#hand.releaseReady();
      this.#expireAllAtMs = nowMs + (endless?.graceMs ?? 0);
      if (endless !== null) this.#wire.endSoon(nowMs, endless.graceMs);
    }
    if (nowMs < this.#expireAllAtMs) return;
    this.#expireAllAtMs = NEVER;
    this.#hand.running.expireAll(
      isAborted ? "was stopped by its worker" : "ran until its drain was over",
      nowMs,
    );
  }

  #isOver(nowMs: number): boolean {
    if (this.#hand.running.size > 0 || (this.#plan.endless !== null && !this.#isStopping)) return false;
    if (this.#wire.failures > 0) return this.#wire.givesUp(nowMs);
    return this.#hand.isEmpty && this.#hand.outbox.length === 0 && this.#schedule.pollAtMs === NEVER;
  }

  /** Before it waits: plans the next poll. */
  #rest(nowMs: number): void {
    if (this.#isStopping || this.#wire.failures > 0) return;
    if (this.#plan.endless !== null && this.#hand.isEmpty && this.#tally.claimed > this.#reportedAt) {
      this.#reportedAt = this.#tally.claimed;
      this.#tally.drained(this.#outlook.last);
    }
    this.#schedule.plan(nowMs);
  }
}
