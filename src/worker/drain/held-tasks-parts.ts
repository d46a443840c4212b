import type { SharedQueries } from "../handler/query-share.ts";
import type { ByteBudget } from "./byte-budget.ts";
import type { DrainReporter } from "./drain-reporter.ts";
import type { DrainSettings } from "./drain-settings.ts";
import type { DrainTime } from "./drain-time.ts";
import type { SlotPool } from "./slot-pool.ts";

/** The parts of a drain that `HeldTasks` and its own parts use. */
export interface HeldTasksParts {
  readonly settings: DrainSettings;
  readonly time: DrainTime;
  readonly pools: readonly SlotPool[];
  readonly bytes: ByteBudget;
  readonly totals: DrainReporter;
  readonly queries: SharedQueries;
  /** Woken when attempts or calls have ended, unless they did within `start`. */
  readonly waiting: { wake(): void };
  /** Gets an error of the worker itself: the drain fails with it. */
  readonly trips: { fail(error: unknown): void };
  /** Invalidated when a task has ended or is lost without a settlement in the outbox. */
  readonly cycles: { invalidate(): void };
}
