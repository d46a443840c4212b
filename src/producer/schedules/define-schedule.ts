import type { AnyTaskDefinition } from "../define-task.ts";
import { checkSchedule } from "./check-schedule.ts";
import type { Schedule, ScheduleOf } from "./schedule-options.ts";

/**
 * Checks a schedule when it is defined, and gives its payload the type of its task. Schedules in a list that is passed
 * to `new Worker` are checked in the same way.
 *
 * @throws {InvalidArgument} naming the option, or the field of the expression, that is wrong.
 * @example
 * ```ts
 * import { defineSchedule, defineTask } from "wadi";
 *
 * const report = defineTask<{ day: string }>({ name: "report" });
 * const daily = defineSchedule({
 *   name: "daily report",
 *   task: report,
 *   cron: "0 9 * * MON-FRI",
 *   timeZone: "Europe/Berlin",
 *   payload: ({ slot }) => ({ day: slot.toISOString().slice(0, 10) }),
 * });
 * ```
 */
export function defineSchedule<T extends string | AnyTaskDefinition>(schedule: ScheduleOf<T>): Schedule {
  checkSchedule(schedule as Schedule);
  return schedule as Schedule;
}
