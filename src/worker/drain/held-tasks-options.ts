/** The constructor options of `HeldTasks`. */

import type { AttemptOwner } from "../handler/attempt.ts";
import type { ByteBudget } from "./byte-budget.ts";
import type { DrainReporter } from "./drain-reporter.ts";
import type { DrainSettings } from "./drain-settings.ts";
import type { SlotPool } from "./slot-pool.ts";

type Settings = Pick<DrainSettings, "wadi" | "hooks" | "backoff" | "leaseMs" | "time" | "unreturned">;

export interface HeldTasksOptions extends Settings {
  readonly pools: readonly SlotPool[];
  readonly bytes: ByteBudget;
  readonly totals: DrainReporter;
  readonly newShare: AttemptOwner["newShare"];
  /** Called when attempts or calls have ended, unless they did within `start`. */
  readonly onEnd: () => void;
  /** Called with an error of the worker itself: the drain fails with it. */
  readonly onInternalError: (error: unknown) => void;
  /** Called when a task has ended or is lost without a settlement in the outbox. */
  readonly onChange: () => void;
}
