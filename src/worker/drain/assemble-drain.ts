/** Makes the parts of a drain, and connects them. */

import { QueryShare } from "../handler/query-share.ts";
import { ByteBudget } from "./byte-budget.ts";
import { ClaimPlanner } from "./claim-planner.ts";
import { CycleComposer } from "./cycle-composer.ts";
import type { DrainParts } from "./drain-parts.ts";
import { DrainReporter } from "./drain-reporter.ts";
import type { DrainSettings } from "./drain-settings.ts";
import { DrainStop } from "./drain-stop.ts";
import { EventLoopTurns } from "./event-loop-turns.ts";
import { HeldTasks } from "./held-tasks.ts";
import { makeSlotPools } from "./make-slot-pools.ts";
import { PendingRetries } from "./pending-retries.ts";
import { QueryBudget } from "./query-budget.ts";
import { QueueSnapshot } from "./queue-snapshot.ts";
import { RoundTrips } from "./round-trips.ts";
import { ScheduleFiring } from "./schedule-firing.ts";
import type { SlotPool } from "./slot-pool.ts";
import { TripSchedule } from "./trip-schedule.ts";
import { TripSender } from "./trip-sender.ts";
import { Waiting } from "./waiting.ts";
import { MARK_STATEMENTS, WakeMarker } from "./wake-marker.ts";

/** All parts of a drain. */
export interface AssembledDrain extends DrainParts {
  readonly pools: readonly SlotPool[];
  readonly cycles: CycleComposer;
  readonly trips: RoundTrips;
  readonly schedule: TripSchedule;
  readonly sender: TripSender;
  readonly stop: DrainStop;
  readonly waiting: Waiting;
  readonly turns: EventLoopTurns;
}

export function assembleDrain(settings: DrainSettings): AssembledDrain {
  const { registrations, time } = settings;
  const bytes = new ByteBudget(settings);
  const pools = makeSlotPools(registrations, settings, bytes, time);
  const markStatements = settings.wadi.waker === null ? 0 : MARK_STATEMENTS;
  const queries = new QueryBudget({ ...settings, pools: pools.length, markStatements });
  const totals = new DrainReporter(settings, queries.meter);
  const waiting = new Waiting(settings);
  const onInternalError = (error: unknown) => trips.fail(error);
  const held = new HeldTasks({
    ...settings,
    ...{ pools, bytes, totals, onInternalError },
    newShare: () => new QueryShare(queries),
    onEnd: waiting.wake,
    onChange: () => cycles.invalidate(),
  });
  const schedules = new ScheduleFiring(settings);
  const claims = new ClaimPlanner({ settings, pools, bytes, totals, queries, held });
  const wakes = new WakeMarker({ settings, totals, queries });
  const shared = { settings, totals, held, claims, queries, wakes, schedules, time, polls: waiting.polls };
  const parts: DrainParts = { ...shared, snapshot: new QueueSnapshot(), retries: new PendingRetries() };
  const cycles = new CycleComposer(parts);
  const trips = new RoundTrips(settings, totals, held, queries.meter, waiting.wake);
  const schedule = new TripSchedule(parts, cycles, trips);
  const turns = new EventLoopTurns(waiting.wake, onInternalError);
  const sender = new TripSender({ ...parts, cycles, trips, schedule });
  const stop = new DrainStop({ ...parts, trips });
  return { ...parts, pools, cycles, trips, schedule, sender, stop, waiting, turns };
}
