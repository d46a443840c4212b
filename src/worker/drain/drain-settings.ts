/** The checked settings of one drain, from which its parts are made. */

import type { Backoff } from "../../core/backoff.ts";
import type { WadiInternals } from "../../producer/internals.ts";
import type { Registration } from "../handler/registration.ts";
import type { WorkerHooks } from "../hooks.ts";
import type { ByteLimits } from "./byte-budget.ts";
import type { ClaimMemory } from "./claim-memory.ts";
import type { CodeSchedules } from "./code-schedules.ts";
import type { DrainTime } from "./drain-time.ts";
import type { PoolSizes } from "./make-slot-pools.ts";
import type { UnreturnedCalls } from "./unreturned-calls.ts";

/** Makes a drain wait when nothing is due, instead of ending: it goes on until it is stopped. */
export interface ContinuousMode {
  /** Aborts to stop: nothing is claimed any more, ready tasks are released, and handlers may finish. */
  readonly signal: AbortSignal;
  /** How long handlers may go on after the stop before they are aborted, in milliseconds. */
  readonly graceMs: number;
}

/** The settings of one drain. All times are on the monotonic clock. */
export interface DrainSettings extends PoolSizes, ByteLimits {
  readonly wadi: WadiInternals;
  readonly hooks: WorkerHooks;
  readonly registrations: readonly Registration[];
  /** Names that it leaves out because their declared runs are longer than the drain. */
  readonly skipped: readonly string[];
  readonly leaseMs: number;
  readonly backoff: Backoff;
  /** Every lease token begins with it. */
  readonly name: string;
  /** When the drain must be over; `Infinity` if it is continuous. */
  readonly deadlineMs: number;
  readonly time: DrainTime;
  readonly maxTasks: number;
  /** The hop of the kick that started it. */
  readonly hop: number;
  /** How long a short drain waits for new tasks after its last one, in milliseconds. */
  readonly stayMs: number;
  /** How often it asks whether running tasks were canceled, in milliseconds. */
  readonly cancelPollMs: number;
  /** Most statements it sends; `Infinity`: no limit. */
  readonly maxQueries: number;
  /** First and longest pause between two polls of a continuous drain, in milliseconds. */
  readonly pollMs: number;
  readonly maxPollMs: number;
  /** How long a short drain waits for a retry of a task that it ran, in milliseconds. */
  readonly lingerMs: number;
  /** The schedules that the worker defines; null if it defines none. */
  readonly schedules: CodeSchedules | null;
  /** Stops the drain as its deadline would. */
  readonly signal: AbortSignal | undefined;
  /** Null: a short drain, which ends when nothing is due. */
  readonly continuous: ContinuousMode | null;
  /** Shared by all drains of a worker, as is `unreturned`. */
  readonly hints: ClaimMemory;
  readonly unreturned: UnreturnedCalls;
}
