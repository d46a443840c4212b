/** The methods of `wadi.schedules`: their checks, and the operations behind them. */
import { InvalidArgument } from "../../core/errors/errors.ts";
import {
  listSchedules,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  type ScheduleRef,
  setSchedule,
} from "../../core/operations/schedules.ts";
import { type SubmittedTask, submit } from "../../core/operations/submit.ts";
import { integer } from "../../core/validate.ts";
import { slotsOf } from "../../schedules/slots.ts";
import { directCall, splitCall } from "../call-options.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import type { WadiInternals } from "../internals.ts";
import { checkSchedule, isDynamic, scheduleRow } from "./check-schedule.ts";
import { checkScheduleName, DEFAULT_GROUP } from "./schedule-name.ts";
import type { Schedule, ScheduleOf } from "./schedule-options.ts";
import { decodeSchedule, firstAfter, onFailedOf, optionsOf, type ScheduleState } from "./schedule-state.ts";
import type { RunNowOptions, ScheduleCallOptions, Schedules } from "./schedules.ts";

/** Most schedules that a list returns. */
const MAX_LISTED = 1000;
const MAX_PREVIEW = 1000;

export class ScheduleControls implements Schedules {
  readonly #internals: WadiInternals;

  constructor(internals: WadiInternals) {
    this.#internals = internals;
  }

  async set<T extends string | AnyTaskDefinition>(
    schedule: ScheduleOf<T>,
    options?: ScheduleCallOptions,
  ): Promise<ScheduleState> {
    const { group, call } = this.#split("schedules.set", options);
    const checked = checkSchedule(schedule as Schedule);
    if (isDynamic(checked)) {
      const advice = "pass a payload, or define the schedule in the schedules of a worker";
      throw new InvalidArgument(
        `schedule "${checked.name}": a function cannot be stored as payload; ${advice}`,
      );
    }
    const { session } = this.#internals;
    const row = await scheduleRow(session.executor, checked);
    const stored = await session.execute(setSchedule(session.target, group, row), call);
    if (stored?.row.source === "code") {
      const advice = "change it there, or choose another name or group";
      throw new InvalidArgument(
        `schedule "${checked.name}" of group "${group}" is defined in code; ${advice}`,
      );
    }
    this.#internals.hint?.touch();
    return decodeSchedule(stored!);
  }

  async list(options?: ScheduleCallOptions): Promise<ScheduleState[]> {
    const { call, rest } = splitCall<{ readonly group?: string | undefined }>("schedules.list", options, [
      "group",
    ]);
    const filter = rest?.group === undefined ? {} : { group: checkScheduleName("group", rest.group) };
    const { session } = this.#internals;
    const rows = await session.execute(
      listSchedules(session.target, filter, MAX_LISTED),
      directCall("list", call),
    );
    return Promise.all(rows.map(decodeSchedule));
  }

  async pause(name: string, options?: ScheduleCallOptions): Promise<ScheduleState | null> {
    const { ref, call } = this.#ref("schedules.pause", name, options);
    const { session } = this.#internals;
    const stored = await session.execute(pauseSchedule(session.target, ref), call);
    return stored && decodeSchedule(stored);
  }

  async resume(name: string, options?: ScheduleCallOptions): Promise<ScheduleState | null> {
    const { ref, call } = this.#ref("schedules.resume", name, options);
    const { session } = this.#internals;
    const stored = await session.execute(resumeSchedule(session.target, ref), call);
    this.#internals.hint?.touch();
    return stored && decodeSchedule(stored);
  }

  async remove(name: string, options?: ScheduleCallOptions): Promise<boolean> {
    const { ref, call } = this.#ref("schedules.remove", name, options);
    const { session } = this.#internals;
    const { removed, left } = await session.execute(removeSchedule(session.target, ref), call);
    if (left === null) return removed;
    const advice = "remove it from the schedules of the worker, or pause it";
    throw new InvalidArgument(`schedule "${name}" of group "${ref.group}" is defined in code; ${advice}`);
  }

  async runNow(name: string, options?: RunNowOptions): Promise<SubmittedTask | null> {
    const { payload, ...others } = options ?? {};
    const { ref, call } = this.#ref("schedules.runNow", name, others);
    const { session, submitter } = this.#internals;
    const [stored] = await session.execute(listSchedules(session.target, ref, 1), call);
    if (stored === undefined) return null;
    const state = await decodeSchedule(stored);
    if (state.payloadInCode && payload === undefined) {
      throw new InvalidArgument(`schedule "${name}" makes its payload in code; pass runNow a payload`);
    }
    const request = {
      task: state.task,
      payload: payload === undefined ? state.payload : payload,
      options: optionsOf(stored.row),
    };
    const prepared = submitter.prepare(request);
    const task = { ...prepared, columns: { ...prepared.columns, on_failed: onFailedOf(stored.row) } };
    const submitted = await session.execute(submit(session.target, [task]), call);
    submitter.announce(submitted, [task]);
    return submitted[0]!;
  }

  async preview(name: string, count: number, options?: ScheduleCallOptions): Promise<number[] | null> {
    const { ref, call } = this.#ref("schedules.preview", name, options);
    integer("the count of schedules.preview", count, 1, MAX_PREVIEW);
    const { session } = this.#internals;
    const [stored] = await session.execute(listSchedules(session.target, ref, 1), call);
    if (stored === undefined) return null;
    const next = await slotsOf(JSON.parse(String(stored.row.timing)));
    const slots: number[] = [];
    for (let slot = await firstAfter(stored); slot !== null && slots.length < count; slot = next(slot))
      slots.push(slot);
    return slots;
  }

  #ref(what: string, name: string, options?: ScheduleCallOptions) {
    const { group, call } = this.#split(what, options);
    const ref: ScheduleRef = { group, name: checkScheduleName("the name of a schedule", name) };
    return { ref, call };
  }

  #split(what: string, options?: ScheduleCallOptions) {
    const { call, rest } = splitCall<{ readonly group?: string | undefined }>(what, options, ["group"]);
    const group = checkScheduleName("group", rest?.group ?? DEFAULT_GROUP);
    return { group, call: directCall(what, call) };
  }
}
