/** `wadi.schedules` as an application sees it: schedules that are stored, and controls of those in code too. */
import type { SubmittedTask } from "../../core/operations/submit.ts";
import type { CallOptions } from "../call-options.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import type { ScheduleOf } from "./schedule-options.ts";
import type { ScheduleState } from "./schedule-state.ts";

/** Which group a schedule is in, and what may end the call. */
export interface ScheduleCallOptions extends CallOptions {
  /** Group of the schedule. @default "default" */
  readonly group?: string | undefined;
}

/** Options of `wadi.schedules.runNow`. */
export interface RunNowOptions extends ScheduleCallOptions {
  /** Payload instead of the stored one; needed if the schedule makes its payload in code. @default the stored one */
  readonly payload?: unknown;
}

/**
 * Sets, lists and controls schedules. Each method is one round trip, `runNow` is two.
 *
 * @example
 * ```ts
 * import type { Schedules } from "wadi";
 *
 * const pauseAll = async (schedules: Schedules): Promise<void> => {
 *   for (const { name, group } of await schedules.list()) await schedules.pause(name, { group });
 * };
 * await pauseAll(wadi.schedules);
 * ```
 */
export interface Schedules {
  /**
   * Stores a schedule, or replaces the one of its name, and returns it. Its next slot stays if its timing does. The
   * drain that finds it first computes its first slot: no slot from now on is left out.
   *
   * @throws {InvalidArgument} if an option is wrong, the payload is a function, or code defines a schedule of the name.
   * @example
   * ```ts
   * await wadi.schedules.set({ name: "report", task: "report", cron: "0 9 * * MON-FRI", timeZone: "Europe/Berlin" });
   * ```
   */
  set<T extends string | AnyTaskDefinition>(
    schedule: ScheduleOf<T>,
    options?: ScheduleCallOptions,
  ): Promise<ScheduleState>;

  /**
   * Lists schedules in the order of their groups and names, at most 1,000.
   *
   * @example
   * ```ts
   * for (const { name, nextAtMs, pausedAtMs } of await wadi.schedules.list()) console.log(name, nextAtMs, pausedAtMs);
   * ```
   */
  list(options?: ScheduleCallOptions): Promise<ScheduleState[]>;

  /**
   * Pauses a schedule of code or of `set` until `resume`, and returns it; null if there is none. New deployments do not
   * resume it.
   *
   * @example
   * ```ts
   * await wadi.schedules.pause("report");
   * ```
   */
  pause(name: string, options?: ScheduleCallOptions): Promise<ScheduleState | null>;

  /**
   * Resumes a paused schedule and returns it; null if there is none. Slots that passed during the pause are left out,
   * whatever `missed` says.
   *
   * @example
   * ```ts
   * await wadi.schedules.resume("report");
   * ```
   */
  resume(name: string, options?: ScheduleCallOptions): Promise<ScheduleState | null>;

  /**
   * Deletes a schedule of `set`, and returns whether there was one. Its tasks stay.
   *
   * @throws {InvalidArgument} if the schedule is defined in code.
   * @example
   * ```ts
   * await wadi.schedules.remove("report");
   * ```
   */
  remove(name: string, options?: ScheduleCallOptions): Promise<boolean>;

  /**
   * Queues a task of the schedule now, also while it is paused, and returns it; null if there is no such schedule.
   * Slots are not concerned, and the task has no key.
   *
   * @throws {InvalidArgument} if the schedule makes its payload in code and none is given.
   * @example
   * ```ts
   * const task = await wadi.schedules.runNow("report");
   * ```
   */
  runNow(name: string, options?: RunNowOptions): Promise<SubmittedTask | null>;

  /**
   * The next `count` slots of a schedule in epoch milliseconds, as if it were not paused; null if there is none of the
   * name.
   *
   * @example
   * ```ts
   * const slots = await wadi.schedules.preview("report", 5);
   * console.log(slots?.map((ms) => new Date(ms).toISOString()));
   * ```
   */
  preview(name: string, count: number, options?: ScheduleCallOptions): Promise<number[] | null>;
}
