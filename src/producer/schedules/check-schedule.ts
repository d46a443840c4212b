/** From a schedule as it is written to its checked parts, and to the row that is stored. */
import {
  type CompleteChecks,
  checkOptions,
  integerFrom,
  optional,
  unchecked,
} from "../../core/check-options.ts";
import { InvalidArgument } from "../../core/errors/errors.ts";
import type { JsonTarget } from "../../core/json/json.ts";
import type { Overlap, ScheduleRow, SlotPolicy, Timing } from "../../core/operations/schedules.ts";
import type { NewTask } from "../../core/operations/submit.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import { instant, oneOf, onlyKnown, optionalFlag, requireRecord, show } from "../../core/validate.ts";
import { checkCron } from "../../schedules/check-cron.ts";
import { checkTimeZone } from "../../schedules/time-zone.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import { prepareTask } from "../submit/prepare-task.ts";
import { validatePayload } from "../submit/validate-payload.ts";
import { checkScheduleName } from "./schedule-name.ts";
import type { Schedule, ScheduledTaskOptions, ScheduleSlot } from "./schedule-options.ts";

/** A schedule whose options were checked. */
export interface CheckedSchedule {
  readonly name: string;
  readonly timing: Timing;
  readonly policy: SlotPolicy;
  readonly overlap: Overlap;
  readonly maxFailures: number | null;
  readonly paused: boolean;
  readonly task: string | AnyTaskDefinition;
  readonly payload: unknown;
  readonly options: ScheduledTaskOptions | undefined;
}

const MAX_EVERY_MS = 366 * 24 * 3_600_000;
const MAX_AT_ONCE = 100;
const SKIP_GRACE_MS = 60_000;
const TASK_OPTIONS = Object.keys({
  queue: true,
  maxAttempts: true,
  maxCrashes: true,
  priority: true,
  metadata: true,
  correlationId: true,
  limits: true,
  expiresInMs: true,
  onFailed: true,
} satisfies Record<keyof ScheduledTaskOptions, true>);

const MISSED = ["latest", "skip", "all"] as const;
const OVERLAP = ["allow", "skip", "replace"] as const;
const time = optional((option, value) => instant(option, value as Date | number));
const SCHEDULE = {
  name: checkScheduleName,
  task: unchecked, // by prepareTask
  payload: unchecked,
  cron: optional(checkCron),
  everyMs: optional(integerFrom(1000, MAX_EVERY_MS)),
  timeZone: checkTimeZone,
  missed: (option, value = "latest") => oneOf(option, value, MISSED),
  max: optional(integerFrom(1, MAX_AT_ONCE)),
  graceMs: optional(integerFrom(0)),
  overlap: (option, value = "allow") => oneOf(option, value, OVERLAP),
  startAt: time,
  endAt: time,
  jitterMs: integerFrom(0, MAX_TIMER_MS, 0),
  paused: optionalFlag,
  pauseAfterFailures: optional(integerFrom(1, 1000)),
  options: (_, value) => {
    onlyKnown("the submit of a schedule", value as object | undefined, TASK_OPTIONS);
    return value as ScheduledTaskOptions | undefined;
  },
} satisfies CompleteChecks<Schedule>;

/** @throws {InvalidArgument} naming what is wrong, and the schedule. */
export function checkSchedule(schedule: Schedule): CheckedSchedule {
  requireRecord("a schedule", schedule);
  const name = checkScheduleName("the name of a schedule", schedule.name);
  const of = `schedule "${name}"`;
  const checked = checkOptions<{ [K in keyof typeof SCHEDULE]: ReturnType<(typeof SCHEDULE)[K]> }>(
    of,
    schedule,
    SCHEDULE as never,
    `${of}: `,
  );
  const { cron, everyMs, timeZone, missed, max, graceMs, overlap, startAt, endAt } = checked;
  const refuse = (message: string) => new InvalidArgument(`${of}: ${message}`);
  if ((cron === null) === (everyMs === null)) throw refuse("pass either cron or everyMs");
  if (everyMs !== null && schedule.timeZone !== undefined)
    throw refuse("timeZone goes with cron; slots of everyMs have the same distance in every zone");
  if ((missed === "all") !== (max !== null))
    throw refuse(`max and missed "all" go together; give the most tasks to queue at a time`);
  if (missed === "all" && overlap !== "allow") throw refuse(`missed "all" goes with overlap "allow" only`);
  if (startAt !== null && endAt !== null && endAt <= startAt) throw refuse("endAt must be after startAt");
  if (typeof schedule.task !== "string" && typeof schedule.task?.name !== "string")
    throw refuse(`task must be a name or the result of defineTask, got ${show(schedule.task)}`);
  return {
    name,
    timing: { cron, every_ms: everyMs, time_zone: timeZone, start_at_ms: startAt, end_at_ms: endAt },
    policy: {
      missed,
      max,
      grace_ms: graceMs ?? (missed === "skip" ? SKIP_GRACE_MS : null),
      jitter_ms: checked.jitterMs,
    },
    overlap,
    maxFailures: checked.pauseAfterFailures,
    paused: checked.paused ?? false,
    task: schedule.task,
    payload: schedule.payload,
    options: checked.options,
  };
}

/** Whether the payload is made for each slot. */
export function isDynamic({ payload }: Pick<CheckedSchedule, "payload">): boolean {
  return typeof payload === "function";
}

/** The task of one slot, checked as a submit checks it. */
export async function taskOfSlot(
  target: JsonTarget,
  schedule: CheckedSchedule,
  slot: ScheduleSlot,
): Promise<NewTask> {
  const make = schedule.payload as (slot: ScheduleSlot) => unknown;
  return preparedTask(target, schedule, await make(slot));
}

/** What is stored of a schedule. @throws {InvalidArgument} if the payload or an option is wrong. */
export async function scheduleRow(target: JsonTarget, schedule: CheckedSchedule): Promise<ScheduleRow> {
  const { name, timing, policy, overlap, maxFailures, paused } = schedule;
  const dynamic = isDynamic(schedule);
  const prepared = dynamic
    ? prepareTask(target, { ...withoutLimits(schedule), payload: null })
    : await preparedTask(target, schedule, schedule.payload);
  return {
    ...{ name, timing, policy, overlap, max_failures: maxFailures, dynamic, paused },
    task: taskJson(prepared),
  };
}

/** The limits of a payload that is not known yet, whose key may depend on it. */
function withoutLimits({ task, options }: CheckedSchedule): Parameters<typeof prepareTask>[1] {
  const { limits: _, ...rest } = options ?? {};
  return { task: typeof task === "string" ? task : { ...task, limits: null }, payload: null, options: rest };
}

async function preparedTask(
  target: JsonTarget,
  { task, options }: CheckedSchedule,
  payload: unknown,
): Promise<NewTask> {
  const prepared = prepareTask(target, { task, payload, options: options ?? {} });
  await validatePayload(task, prepared);
  return prepared;
}

/** The columns of its tasks. Payload and metadata are JSON already. */
function taskJson({ columns, limits }: NewTask): string {
  const { payload, metadata, name, queue, max_attempts, max_crashes, priority } = columns;
  const { correlation_id, concurrency_key, expires_in_ms, on_failed } = columns;
  const plain = { name, queue, max_attempts, max_crashes, priority, correlation_id, concurrency_key, limits };
  const json = [
    JSON.stringify({ ...plain, expires_in_ms }).slice(1, -1),
    ...[`"metadata":${metadata}`, `"payload":${payload}`],
    ...(on_failed === null ? [] : [`"on_failed":${on_failed}`]),
  ];
  return `{${json.join()}}`;
}
