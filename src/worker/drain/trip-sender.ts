/** Sends the round trips of a drain, and applies their answers. */

import { monotonicMs } from "../../core/monotonic-clock.ts";
import { checkLeases, renewLeases } from "../../core/operations/lease.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { Cycle } from "./cycle-composer.ts";
import type { TripParts } from "./trip-parts.ts";
import type { TripSchedule } from "./trip-schedule.ts";

export interface TripSenderParts extends TripParts {
  readonly schedule: TripSchedule;
}

/** Sends the round trip that is due: a heartbeat, a cycle or a check for cancels. */
export class TripSender {
  readonly #parts: TripSenderParts;

  constructor(parts: TripSenderParts) {
    this.#parts = parts;
  }

  /** Sends the round trip that is due at `nowMs`, or a check for cancels if none is. */
  send(nowMs: number): void {
    const { schedule, trips } = this.#parts;
    if (nowMs >= schedule.heartbeatAtMs)
      trips.send("heartbeat", (call) => this.#askForLeases(nowMs, true, call));
    else if (nowMs >= schedule.cycleAtMs) trips.send("settleAndClaim", (call) => this.#cycle(nowMs, call));
    else trips.send("cancelPoll", (call) => this.#askForLeases(nowMs, false, call));
  }

  /** Asks which leases are held and which tasks are canceled; a heartbeat extends the leases too. */
  async #askForLeases(nowMs: number, extendsThem: boolean, call: OperationOptions): Promise<void> {
    const { settings, held, totals, schedule } = this.#parts;
    const { wadi, leaseMs } = settings;
    const { session } = wadi;
    const attempts = held.attempts();
    totals.roundTrip();
    const operation = extendsThem
      ? renewLeases(session.target, attempts, leaseMs)
      : checkLeases(session.target, attempts);
    const renewals = await session.execute(operation, call);
    held.applyRenewals(attempts, renewals, extendsThem ? nowMs + leaseMs : null);
    schedule.cancelsChecked(nowMs);
  }

  async #cycle(nowMs: number, call: OperationOptions): Promise<void> {
    const { held, claims, cycles, trips, schedule } = this.#parts;
    const cycle = trips.unanswered ?? (await this.#compose(nowMs));
    cycles.apply(cycle, await trips.cycle(cycle, call));
    schedule.cycled(monotonicMs());
    if (claims.isClosed) held.releaseReady();
  }

  /** Slots are computed first, if a claim reported due ones: their payloads may be made asynchronously. */
  async #compose(nowMs: number): Promise<Cycle> {
    const { cycles, claims, queries, schedules, snapshot } = this.#parts;
    if (!schedules.needsPreparing || claims.isClosed || !queries.mayFire(snapshot.limited))
      return cycles.compose(nowMs, null, false);
    const { isPending } = schedules;
    const work = await schedules.prepare();
    return cycles.compose(monotonicMs(), work, isPending);
  }

  /** This process was notified that tasks were canceled; null: it is unknown which, so the database is asked. */
  notifyCanceled(ids: readonly string[] | null): void {
    const { held, schedule } = this.#parts;
    if (ids === null) {
      schedule.checkCancelsNow();
      return;
    }
    const attempts = held.attempts().filter(({ id }) => ids.includes(id));
    const canceled = attempts.map(({ id }) => ({ id, cancelRequested: true }));
    held.applyRenewals(attempts, canceled, null);
  }
}
