import { NEVER } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { DrainStatus, DrainSummary } from "../drain-summary.ts";
import { AssembledDrain } from "./assemble-drain.ts";
import type { DrainSettings } from "./drain-settings.ts";
import type { QueryBudget } from "./query-budget.ts";
import type { NextDue } from "./queue-snapshot.ts";
import { reportBlocks } from "./report-blocks.ts";
import type { SlotPool } from "./slot-pool.ts";
import type { WakeMarker } from "./wake-marker.ts";

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
 * A drain claims, runs and settles tasks. It is a state machine with at most one round trip in flight: each turn of its
 * loop applies what has happened, decides the state, acts on it, and waits until that may change. Handlers run and end
 * in every state, and ready tasks start in every state before stopping. A short drain ends when nothing is due; a
 * continuous one is idle then, and ends when it is stopped.
 *
 * States:
 * - sending: a round trip is due: a cycle (which settles what has ended and claims for free slots), a heartbeat, or a
 *   check for cancels.
 * - awaiting: the round trip is in flight.
 * - retrying: the last round trip failed, and the pause before the next one is not over.
 * - gathering: tasks have ended, and wait a moment so that more of them share a settlement.
 * - running: tasks are held, and there is nothing to send.
 * - lingering: a short drain holds nothing, and a task that it ran is retried soon, or it stays for new tasks.
 * - idle: a continuous drain holds nothing, and knows of nothing to claim.
 * - stopping: nothing is claimed or started any more, and running handlers may still end.
 * - over.
 *
 * Moves:
 * - sending → awaiting: the round trip is sent, together with the outcomes of handlers that end in the same turn.
 * - awaiting → retrying: it failed.
 * - awaiting → sending, gathering, running, lingering, idle, stopping: it was answered.
 * - awaiting → over: the last claim of a short drain found nothing, and no retry is due soon; or the error is fatal.
 * - retrying → sending: the pause is over.
 * - retrying → over: no time is left for another try.
 * - gathering → sending: the moment is over, or no handler is likely to end soon.
 * - running → gathering: a task has ended, and more are likely to.
 * - running → sending: free slots can be filled, a poll is due, or leases are to be renewed.
 * - lingering → sending: the retry is due, a notification came, or the stay is over.
 * - idle → sending: a notification came, or a poll is due.
 * - any → stopping: the time is up, or the signal has aborted. Tasks that have not started are released.
 * - stopping → sending: tasks have ended, or leases are to be renewed.
 * - stopping → over: all tasks are settled.
 */
export class Drain {
  readonly queries: QueryBudget;
  readonly wakes: WakeMarker;
  readonly #parts: AssembledDrain;
  /** How many tasks were claimed when a continuous drain last reported that nothing is left. */
  #claimedAtReport = 0;

  constructor(settings: DrainSettings) {
    this.#parts = new AssembledDrain(settings);
    this.queries = this.#parts.queries;
    this.wakes = this.#parts.wakes;
  }

  /** When the next task is due, as far as it knows at its end. */
  get nextDue(): NextDue {
    return this.#parts.snapshot.at(monotonicMs());
  }

  /** What it is doing now. */
  get status(): DrainStatus {
    const { held, totals, snapshot } = this.#parts;
    return {
      running: held.running.names,
      ready: held.ready,
      slots: held.gate.slots,
      totals: totals.summary(snapshot.last),
    };
  }

  async run(): Promise<DrainSummary> {
    const { settings, cycles, held, sender, snapshot, totals, trips, waiting } = this.#parts;
    const unlisten = waiting.listen(cycles, sender);
    const watch = reportBlocks(settings, held.running, () => {
      held.leases.renewNow();
      waiting.wake();
    });
    try {
      await this.#loop();
    } finally {
      unlisten();
      trips.deadlines.close();
      // Tasks are left only after failed round trips: they are recovered when their leases expire.
      held.giveUp(trips.unanswered?.attempts);
      await held.running.returned(waiting);
      watch.stop();
      waiting.close();
    }
    return totals.drained(settings.continuous === null ? snapshot.at(monotonicMs()) : snapshot.last);
  }

  async #loop(): Promise<void> {
    const { held, schedule, trips, turns, waiting } = this.#parts;
    for (;;) {
      const nowMs = monotonicMs();
      this.#applyTime(nowMs);
      const state = this.#stateAt(nowMs);
      switch (state) {
        case "over":
          if (trips.failure !== null) throw trips.failure.error;
          return;
        case "sending":
          if (held.ready === 0) await turns.letHandlersEnd();
          this.#send();
          continue;
        case "idle":
          this.#reportDrained();
          schedule.planPoll(nowMs);
          break;
        case "gathering":
        case "running":
        case "lingering":
          schedule.planPoll(nowMs);
          break;
        case "awaiting":
        case "retrying":
        case "stopping":
      }
      await waiting.until(this.#wakeAtMs(state));
    }
  }

  /** The one place that decides the state. */
  #stateAt(nowMs: number): DrainState {
    const { settings, held, schedule, stop, trips } = this.#parts;
    if (trips.failure !== null) return "over";
    if (trips.isBusy) return "awaiting";
    if (schedule.tripAtMs <= nowMs) return "sending";
    if (this.#isOver(nowMs)) return "over";
    if (stop.isStopping) return "stopping";
    if (trips.isFailing) return "retrying";
    if (held.outbox.length > 0) return "gathering";
    if (!held.isEmpty) return "running";
    return settings.continuous === null ? "lingering" : "idle";
  }

  #isOver(nowMs: number): boolean {
    const { settings, held, schedule, stop, trips, wakes } = this.#parts;
    if (held.running.size > 0 || (settings.continuous !== null && !stop.isStopping)) return false;
    if (trips.isFailing) return trips.givesUp(nowMs);
    if (wakes.isStaying && !stop.isStopping) return false;
    return held.isEmpty && held.outbox.length === 0 && schedule.pollAtMs === NEVER;
  }

  /** When the state may change although nothing wakes the drain. */
  #wakeAtMs(state: DrainState): number {
    const { held, schedule, stop, trips } = this.#parts;
    const lostAtMs = trips.isFailing ? held.leases.endsAtMs : NEVER;
    const eventAtMs = Math.min(held.running.expiresAtMs, stop.nextAtMs, lostAtMs);
    return state === "awaiting" ? eventAtMs : Math.min(eventAtMs, schedule.tripAtMs, schedule.pollAtMs);
  }

  /** Applies what the time has brought: the stop, handlers whose time is up, expired leases, free slots, polls. */
  #applyTime(nowMs: number): void {
    const { claims, cycles, held, schedule, stop, trips, turns } = this.#parts;
    stop.applyTime(nowMs);
    held.running.expire(nowMs);
    if (trips.isFailing) held.lose(({ lease }) => lease.endsAtMs <= nowMs);
    if (!turns.isYielding) this.#start();
    if (trips.isBusy) return;
    schedule.noteRunning(nowMs);
    if (nowMs >= schedule.pollAtMs || (cycles.hasNewTasks && claims.hasRoom)) claims.expectDueTasks();
  }

  /**
   * Starts ready tasks, except those below the low-water mark of their pool while a claim for more can go out first.
   */
  #start(): void {
    const { settings, held, turns } = this.#parts;
    held.starter.start((pool, nowMs) => {
      turns.yieldIfLong(nowMs);
      if (turns.isYielding || settings.signal?.aborted) return false;
      return !(pool.isLow && this.#canClaimFor(pool, nowMs));
    });
    if (!turns.isYielding) held.unstarted.releaseSurplus();
  }

  #canClaimFor(pool: SlotPool, nowMs: number): boolean {
    const { claims, schedule, trips } = this.#parts;
    if (!pool.wantsMore || trips.isBusy || claims.room === 0) return false;
    return nowMs >= Math.max(trips.retryAtMs, schedule.gatherUntilMs);
  }

  /** Sends the round trip that is due. Ready tasks start after it has gone out. */
  #send(): void {
    const { held, sender, turns } = this.#parts;
    if (held.ready > 0) turns.yieldTurn();
    sender.send(monotonicMs());
  }

  #reportDrained(): void {
    const { snapshot, totals } = this.#parts;
    if (totals.claimedTasks === this.#claimedAtReport) return;
    this.#claimedAtReport = totals.claimedTasks;
    totals.drained(snapshot.last);
  }
}
