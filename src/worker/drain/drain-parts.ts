import type { ClaimPlanner } from "./claim-planner.ts";
import type { DrainReporter } from "./drain-reporter.ts";
import type { DrainSettings } from "./drain-settings.ts";
import type { DrainTime } from "./drain-time.ts";
import type { HeldTasks } from "./held-tasks.ts";
import type { PendingRetries } from "./pending-retries.ts";
import type { PollSchedule } from "./poll-schedule.ts";
import type { QueryBudget } from "./query-budget.ts";
import type { QueueSnapshot } from "./queue-snapshot.ts";
import type { ScheduleFiring } from "./schedule-firing.ts";
import type { WakeMarker } from "./wake-marker.ts";

/** The parts of a drain that its cycles and its schedule read. */
export interface DrainParts {
  readonly settings: DrainSettings;
  readonly totals: DrainReporter;
  readonly held: HeldTasks;
  readonly claims: ClaimPlanner;
  readonly snapshot: QueueSnapshot;
  readonly retries: PendingRetries;
  readonly polls: PollSchedule;
  readonly queries: QueryBudget;
  readonly schedules: ScheduleFiring;
  readonly wakes: WakeMarker;
  readonly time: DrainTime;
}
