/** Sends the round trips of a drain, and applies their answers. */

import { monotonicMs } from "../../core/monotonic-clock.ts";
import { checkLeases, renewLeases } from "../../core/operations/lease.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { Cycle, CycleComposer } from "./cycle-composer.ts";
import type { DrainParts } from "./drain-parts.ts";
import type { RoundTrips } from "./round-trips.ts";
import type { TripSchedule } from "./trip-schedule.ts";

export interface TripSenderParts extends DrainParts {
  readonly cycles: CycleComposer;
  readonly trips: RoundTrips;
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
    if (nowMs >= schedule.heartbeatAtMs) trips.send("heartbeat", (call) => this.#heartbeat(nowMs, call));
    else if (nowMs >= schedule.cycleAtMs) trips.send("settleAndClaim", (call) => this.#cycle(nowMs, call));
    else trips.send("cancelPoll", (call) => this.#checkCancels(nowMs, call));
  }

  async #heartbeat(nowMs: number, call: OperationOptions): Promise<void> {
    const { settings, held, totals, schedule } = this.#parts;
    const attempts = held.attempts();
    totals.roundTrip();
    const { session } = settings.wadi;
    const renewals = await session.execute(renewLeases(session.target, attempts, settings.leaseMs), call);
    held.applyRenewals(attempts, renewals, nowMs + settings.leaseMs);
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

  async #checkCancels(nowMs: number, call: OperationOptions): Promise<void> {
    const { settings, held, totals, schedule } = this.#parts;
    const attempts = held.attempts();
    totals.roundTrip();
    const { session } = settings.wadi;
    held.applyRenewals(attempts, await session.execute(checkLeases(session.target, attempts), call), null);
    schedule.cancelsChecked(nowMs);
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
