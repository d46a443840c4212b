import { ByteBudget } from "./byte-budget.ts";
import { ClaimPlanner } from "./claim-planner.ts";
import { CycleComposer } from "./cycle-composer.ts";
import type { DrainParts } from "./drain-parts.ts";
import { DrainReporter } from "./drain-reporter.ts";
import type { DrainSettings } from "./drain-settings.ts";
import { DrainStop } from "./drain-stop.ts";
import type { DrainTime } from "./drain-time.ts";
import { EventLoopTurns } from "./event-loop-turns.ts";
import { HeldTasks } from "./held-tasks.ts";
import { makeSlotPools } from "./make-slot-pools.ts";
import { PendingRetries } from "./pending-retries.ts";
import type { PollSchedule } from "./poll-schedule.ts";
import { QueryBudget } from "./query-budget.ts";
import { QueueSnapshot } from "./queue-snapshot.ts";
import { RoundTrips } from "./round-trips.ts";
import { ScheduleFiring } from "./schedule-firing.ts";
import type { SlotPool } from "./slot-pool.ts";
import { TripSchedule } from "./trip-schedule.ts";
import { TripSender } from "./trip-sender.ts";
import { pollsOf, Waiting } from "./waiting.ts";
import { WakeMarker } from "./wake-marker.ts";

/** Makes the parts of a drain. They find each other in it, once all of them are made. */
export class AssembledDrain implements DrainParts {
  readonly settings: DrainSettings;
  readonly time: DrainTime;
  readonly bytes: ByteBudget;
  readonly pools: readonly SlotPool[];
  readonly queries: QueryBudget;
  readonly totals: DrainReporter;
  readonly waiting: Waiting;
  readonly polls: PollSchedule;
  readonly held: HeldTasks;
  readonly schedules: ScheduleFiring;
  readonly claims: ClaimPlanner;
  readonly wakes: WakeMarker;
  readonly snapshot: QueueSnapshot;
  readonly retries: PendingRetries;
  readonly cycles: CycleComposer;
  readonly trips: RoundTrips;
  readonly schedule: TripSchedule;
  readonly sender: TripSender;
  readonly stop: DrainStop;
  readonly turns: EventLoopTurns;

  constructor(settings: DrainSettings) {
    this.settings = settings;
    this.time = settings.time;
    this.bytes = new ByteBudget(settings);
    this.pools = makeSlotPools(settings, this.bytes, this.time);
    this.queries = new QueryBudget(this);
    this.totals = new DrainReporter(settings, this.queries.meter);
    this.waiting = new Waiting(settings);
    this.polls = pollsOf(settings);
    this.held = new HeldTasks(this);
    this.schedules = new ScheduleFiring(settings);
    this.claims = new ClaimPlanner(this);
    this.wakes = new WakeMarker(this);
    this.snapshot = new QueueSnapshot();
    this.retries = new PendingRetries();
    this.cycles = new CycleComposer(this);
    this.trips = new RoundTrips(this);
    this.schedule = new TripSchedule(this);
    this.sender = new TripSender(this);
    this.stop = new DrainStop(this);
    this.turns = new EventLoopTurns(this);
  }
}
