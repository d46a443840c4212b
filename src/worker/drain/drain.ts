import { monotonicMs } from "../../core/clock.ts";
import type { DrainStatus, DrainSummary } from "../drain-summary.ts";
import { assembleDrain } from "./assemble-drain.ts";
import type { ClaimPlanner } from "./claim-planner.ts";
import type { Cycles } from "./cycles.ts";
import type { DrainSettings } from "./drain-options.ts";
import { DrainStop } from "./drain-stop.ts";
import type { DrainTotals } from "./drain-totals.ts";
import { reportBlocks } from "./event-loop-blocks.ts";
import type { EventLoopTurns } from "./event-loop-turns.ts";
import type { HeldTasks } from "./held-tasks.ts";
import type { QueryBudget } from "./query-budget.ts";
import type { QueueSnapshot } from "./queue-snapshot.ts";
import type { RoundTrips } from "./round-trips.ts";
import type { SlotPool } from "./slot-pool.ts";
import type { TripSchedule } from "./trip-schedule.ts";
import { TripSender } from "./trip-sender.ts";
import type { Waiting } from "./waiting.ts";

const NEVER = Number.POSITIVE_INFINITY;

type DrainState =
  | "sending"
  | "awaiting"
  | "retrying"
  | "gathering"
  | "running"
  | "lingering"
  | "idle"
  | "stopping"
  | "over";

/**
 * A drain claims, runs and settles tasks. It is a state machine with at most one round trip in flight: each turn of its loop
 * applies what has happened, decides the state, acts on it, and waits until that may change. Handlers run and start in every
 * state. A short drain ends when nothing is due; a continuous one is idle then, and ends when it is stopped.
 *
 * States:
 * - sending: a round trip is due: a cycle, which settles what has ended and claims for free slots, a heartbeat, or a check
 *   for cancels.
 * - awaiting: a round trip is in flight.
 * - retrying: the last round trip failed, and the next one waits.
 * - gathering: tasks have ended, and wait a moment so that more of them share a settlement.
 * - running: tasks are held, and there is nothing to send.
 * - lingering: a short drain holds nothing, and a task that it ran is retried soon.
 * - idle: a continuous drain holds nothing, and nothing is due.
 * - stopping: the time is up or the signal has aborted. Nothing is claimed or started, and handlers may still return.
 * - over: nothing is held and no task is due, the drain has stopped, or it has failed.
 *
 * Moves:
 * - sending → awaiting: the round trip is sent.
 * - awaiting → retrying: it failed, and is not fatal. awaiting → any other state: it was answered.
 * - retrying → sending: the pause is over. retrying → over: there is no time left for another try.
 * - gathering → sending: the moment is over, or nothing is left to wait for.
 * - running → sending: tasks have ended, a notification or a poll says that tasks may be due while slots are free, or leases
 *   are to be renewed. running → gathering: tasks have ended, and more will soon.
 * - lingering → sending: the retry is due. idle → sending: a notification came, or a poll is due.
 * - any → stopping: the time is up, or the signal has aborted. What has not started is released.
 * - stopping → sending: tasks have ended. stopping → over: all are settled.
 * - any → over: the drain has failed with an error that no later try would mend.
 */
export class Drain {
  readonly queries: QueryBudget;
  readonly #settings: DrainSettings;
  readonly #pools: readonly SlotPool[];
  readonly #totals: DrainTotals;
  readonly #held: HeldTasks;
  readonly #claims: ClaimPlanner;
  readonly #snapshot: QueueSnapshot;
  readonly #cycles: Cycles;
  readonly #trips: RoundTrips;
  readonly #schedule: TripSchedule;
  readonly #sender: TripSender;
  readonly #stop: DrainStop;
  readonly #waiting: Waiting;
  readonly #turns: EventLoopTurns;
  /** How many tasks were claimed when a continuous drain last reported that nothing is left. */
  #claimedAtReport = 0;

  constructor(settings: DrainSettings) {
    const parts = assembleDrain(settings);
    this.queries = parts.queries;
    this.#settings = settings;
    this.#pools = parts.pools;
    this.#totals = parts.totals;
    this.#held = parts.held;
    this.#claims = parts.claims;
    this.#snapshot = parts.snapshot;
    this.#cycles = parts.cycles;
    this.#trips = parts.trips;
    this.#schedule = parts.schedule;
    this.#sender = new TripSender(parts);
    this.#stop = new DrainStop(parts);
    this.#waiting = parts.waiting;
    this.#turns = parts.turns;
  }

  /** What it is doing now. */
  get status(): DrainStatus {
    return {
      running: this.#held.running.names,
      ready: this.#held.ready,
      slots: this.#pools.reduce((sum, { slots }) => sum + slots, 0),
      totals: this.#totals.summary(this.#snapshot.last),
    };
  }

  async run(): Promise<DrainSummary> {
    const { running, leases } = this.#held;
    const unlisten = this.#waiting.listen({
      onQueued: (queues) => this.#cycles.notifyQueued(queues),
      onCanceled: (ids) => this.#sender.notifyCanceled(ids),
    });
    const watch = reportBlocks(this.#settings, running, () => {
      leases.renewNow();
      this.#waiting.wake();
    });
    try {
      await this.#loop();
    } finally {
      unlisten();
      this.#trips.close();
      // Tasks are left only after failed round trips: they are recovered when their leases expire.
      this.#held.giveUp(this.#trips.unanswered?.attempts);
      await running.returned(this.#waiting.until);
      watch.stop();
      this.#waiting.close();
    }
    const isShort = this.#settings.continuous === null;
    return this.#totals.drained(isShort ? this.#snapshot.at(monotonicMs()) : this.#snapshot.last);
  }

  async #loop(): Promise<void> {
    for (;;) {
      const nowMs = monotonicMs();
      this.#applyTime(nowMs);
      const state = this.#stateAt(nowMs);
      switch (state) {
        case "over":
          if (this.#trips.failure !== null) throw this.#trips.failure.error;
          return;
        case "sending":
          if (this.#held.ready === 0) await this.#turns.letHandlersEnd(this.#held);
          this.#send();
          continue;
        case "idle":
          this.#reportDrained();
          this.#schedule.planPoll(nowMs);
          break;
        case "gathering":
        case "running":
        case "lingering":
          this.#schedule.planPoll(nowMs);
          break;
        case "awaiting":
        case "retrying":
        case "stopping":
      }
      await this.#waiting.until(this.#wakeAtMs(state));
    }
  }

  /** The one place that decides the state. */
  #stateAt(nowMs: number): DrainState {
    if (this.#trips.failure !== null) return "over";
    if (this.#trips.isBusy) return "awaiting";
    if (this.#schedule.tripAtMs <= nowMs) return "sending";
    if (this.#isOver(nowMs)) return "over";
    if (this.#stop.isStopping) return "stopping";
    if (this.#trips.isFailing) return "retrying";
    if (this.#held.outbox.length > 0) return "gathering";
    if (!this.#held.isEmpty) return "running";
    return this.#settings.continuous === null ? "lingering" : "idle";
  }

  #isOver(nowMs: number): boolean {
    const { running, isEmpty, outbox } = this.#held;
    if (running.size > 0 || (this.#settings.continuous !== null && !this.#stop.isStopping)) return false;
    if (this.#trips.isFailing) return this.#trips.givesUp(nowMs);
    return isEmpty && outbox.length === 0 && this.#schedule.pollAtMs === NEVER;
  }

  /** When the state may change although nothing wakes the drain. */
  #wakeAtMs(state: DrainState): number {
    const lostAtMs = this.#trips.isFailing ? this.#held.leases.endsAtMs : NEVER;
    const eventAtMs = Math.min(this.#held.running.expiresAtMs, this.#stop.nextAtMs, lostAtMs);
    if (state === "awaiting") return eventAtMs;
    return Math.min(eventAtMs, this.#schedule.tripAtMs, this.#schedule.pollAtMs);
  }

  /** Applies what the time has brought: the stop, handlers whose time is up, expired leases, free slots, polls. */
  #applyTime(nowMs: number): void {
    this.#stop.applyTime(nowMs);
    this.#held.running.expire(nowMs);
    if (this.#trips.isFailing) this.#held.lose(({ lease }) => lease.endsAtMs <= nowMs);
    if (!this.#turns.isYielding) this.#start();
    if (this.#trips.isBusy) return;
    this.#schedule.noteRunning(nowMs);
    const isNotified = this.#cycles.hasNewTasks && this.#claims.hasRoom;
    if (isNotified || nowMs >= this.#schedule.pollAtMs) this.#claims.expectDueTasks();
  }

  /** Starts ready tasks, except those below the low-water mark of their pool while a claim for more can go out first. */
  #start(): void {
    this.#held.start((pool, nowMs) => {
      this.#turns.yieldIfLong(nowMs);
      if (this.#turns.isYielding || this.#settings.signal?.aborted) return false;
      return !(pool.isLow && this.#canClaimFor(pool, nowMs));
    });
    if (!this.#turns.isYielding) this.#held.releaseSurplus();
  }

  #canClaimFor(pool: SlotPool, nowMs: number): boolean {
    if (!pool.wantsMore || this.#trips.isBusy || this.#claims.room === 0) return false;
    return nowMs >= Math.max(this.#trips.retryAtMs, this.#schedule.gatherUntilMs);
  }

  /** Sends the round trip that is due. Ready tasks start after it has gone out. */
  #send(): void {
    if (this.#held.ready > 0) this.#turns.yieldTurn();
    this.#sender.send(monotonicMs());
  }

  #reportDrained(): void {
    const { claimedTasks } = this.#totals;
    if (claimedTasks === this.#claimedAtReport) return;
    this.#claimedAtReport = claimedTasks;
    this.#totals.drained(this.#snapshot.last);
  }
}
