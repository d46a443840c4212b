/** Fires the due slots that a claim reported, in the round trip that follows, and stores definitions in code. */

import { InvalidArgument } from "../../core/errors/errors.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type {
  DueSchedule,
  Firing,
  GroupDefinitions,
  ScheduleReport,
  SlotMove,
  SlotTask,
} from "../../core/operations/schedules.ts";
import type { NewTask } from "../../core/operations/submit.ts";
import { sleep } from "../../core/timers.ts";
import { newTaskId } from "../../core/ulid.ts";
import { taskOfSlot } from "../../producer/schedules/check-schedule.ts";
import { slotKey } from "../../producer/schedules/schedule-name.ts";
import { dueSlots, jitterOf } from "../../schedules/due-slots.ts";
import { slotsOf } from "../../schedules/slots.ts";
import { reportScheduleError } from "../hooks.ts";
import type { DrainSettings } from "./drain-settings.ts";

/** What a round trip does for schedules, before it settles and claims. */
export interface ScheduleWork {
  /** Definitions in code to store. */
  readonly definitions: GroupDefinitions | null;
  readonly firing: Firing | null;
}

/** The schedules that a claim reported, and when it was answered. */
interface Reported {
  readonly report: ScheduleReport;
  /** The time of the database then. */
  readonly nowMs: number;
  readonly answeredAtMs: number;
}

/** What one schedule adds to a firing. */
interface Fired {
  readonly move: SlotMove;
  readonly tasks: readonly SlotTask[];
  readonly limits: readonly LimitOf[];
}

type LimitOf = Firing["limits"][number];

/** How long a payload function may take: no lease is renewed meanwhile. */
const PAYLOAD_MS = 5000;
/** When a slot whose tasks could not be computed is due again, for alarms and hints. */
const FAILED_MS = 60_000;

/**
 * The schedules of one drain. A claim reports which are due; the next round trip queues their tasks and moves them on,
 * before its claim, which then takes the tasks. Where nothing is due, nothing is sent.
 */
export class ScheduleFiring {
  readonly #settings: Pick<DrainSettings, "wadi" | "hooks" | "schedules">;
  #reported: Reported | null = null;
  /** Slots that this drain cannot fire. Another worker may. */
  readonly #ignored = new Set<string>();
  /** Whether one of them is due for this worker, which could not compute its tasks. */
  #hasFailed = false;

  constructor(settings: Pick<DrainSettings, "wadi" | "hooks" | "schedules">) {
    this.#settings = settings;
  }

  /** The group that the worker defines; null if it defines none. */
  get group(): string | null {
    return this.#settings.schedules?.group ?? null;
  }

  /** Whether the next round trip has something to do for schedules. */
  get isPending(): boolean {
    return this.#due.length > 0 || this.#mustStore;
  }

  /** Whether `prepare` must be called before the next round trip. */
  get needsPreparing(): boolean {
    return this.isPending || this.#settings.schedules?.isPrepared === false;
  }

  get #mustStore(): boolean {
    return this.#reported !== null && (this.#settings.schedules?.mustStore ?? false);
  }

  get #due(): readonly DueSchedule[] {
    return this.#reported?.report.due.filter((schedule) => !this.#ignored.has(idOf(schedule))) ?? [];
  }

  /** Notes what a claim reported. Returns when the next slot is due, by the database's clock; null if none is known. */
  note(report: ScheduleReport | null, nowMs: number): number | null {
    if (report !== null) this.#settings.schedules?.note(report.group);
    this.#reported = report === null ? null : { report, nowMs, answeredAtMs: monotonicMs() };
    if (this.isPending) return nowMs;
    const nextAtMs = report?.nextAtMs ?? null;
    return this.#hasFailed ? Math.min(nextAtMs ?? Infinity, nowMs + FAILED_MS) : nextAtMs;
  }

  /** A round trip with this work was answered. */
  sent({ definitions }: ScheduleWork): void {
    if (definitions !== null) this.#settings.schedules!.stored();
  }

  /** What the next round trip does for schedules; null for nothing. Never throws: errors go to `onError`. */
  async prepare(): Promise<ScheduleWork | null> {
    const { schedules, wadi } = this.#settings;
    if (schedules?.isPrepared === false) await this.#try(() => schedules.prepare(wadi.executor), undefined);
    const reported = this.#reported;
    if (reported === null) return null;
    const nowMs = reported.nowMs + Math.max(0, monotonicMs() - reported.answeredAtMs);
    if (this.#mustStore) {
      const definitions = await this.#try(() => schedules!.definitions(Math.floor(nowMs)), null);
      if (definitions !== null) return { definitions, firing: null };
      schedules!.stored();
    }
    const fired: Fired[] = [];
    for (const schedule of this.#due) {
      const one = await this.#try(() => this.#fire(schedule, Math.floor(nowMs)), null, schedule.name);
      if (one === null) this.#ignored.add(idOf(schedule));
      else fired.push(one);
    }
    if (fired.length === 0) return null;
    const replaces = this.#reported!.report.due.some(({ overlap }) => overlap === "replace");
    return { definitions: null, firing: { ...joined(fired), replaces } };
  }

  async #try<T, F>(work: () => Promise<T>, failed: F, schedule?: string): Promise<T | F> {
    try {
      return await work();
    } catch (error) {
      reportScheduleError(this.#settings.hooks, error, schedule);
      if (schedule !== undefined) this.#hasFailed = true;
      return failed;
    }
  }

  /** Null: a worker of newer definitions makes the payload. */
  async #fire(schedule: DueSchedule, nowMs: number): Promise<Fired | null> {
    const { group, name, at_ms, last_slot_ms, policy, dynamic } = schedule;
    const { fire, nextMs } = dueSlots(schedule, await slotsOf(schedule.timing), nowMs);
    const tasks: SlotTask[] = [];
    const limits: LimitOf[] = [];
    let previousMs = last_slot_ms;
    for (const slotMs of fire) {
      const made = dynamic ? await this.#taskOf(schedule, slotMs, previousMs) : null;
      if (dynamic && made === null) return null;
      const limit = dynamic ? made!.limits : schedule.limits;
      if (limit !== null) limits.push(limit);
      const key = slotKey(group, name, slotMs);
      tasks.push({
        ...{ group, name, at_ms, key, id: newTaskId() },
        run_at_ms: slotMs + jitterOf(key, policy.jitter_ms),
        payload: made?.columns.payload ?? null,
        concurrency_key: made?.columns.concurrency_key ?? null,
      });
      previousMs = slotMs;
    }
    const last = { slot_ms: fire.at(-1) ?? null, task_id: tasks.at(-1)?.id ?? null };
    return { move: { group, name, at_ms, next_ms: nextMs, ...last }, tasks, limits };
  }

  async #taskOf(schedule: DueSchedule, slotMs: number, previousMs: number | null): Promise<NewTask | null> {
    const { wadi, schedules } = this.#settings;
    const definition = schedules?.get(schedule.name);
    const { group } = this.#reported!.report;
    if (definition === undefined || (group !== null && group.revision > schedules!.revision)) return null;
    const slot = { slot: new Date(slotMs), previousSlot: previousMs === null ? null : new Date(previousMs) };
    const ended = new AbortController();
    const late = sleep(PAYLOAD_MS, ended.signal).then(() => {
      throw new InvalidArgument(
        `the payload function of schedule "${schedule.name}" took longer than ${PAYLOAD_MS} ms; make it faster`,
      );
    });
    late.catch(() => {});
    try {
      return await Promise.race([taskOfSlot(wadi.executor, definition, slot), late]);
    } finally {
      ended.abort();
    }
  }
}

function idOf({ group, name, at_ms }: DueSchedule): string {
  return `${slotKey(group, name, at_ms)}`;
}

function joined(fired: readonly Fired[]): Omit<Firing, "replaces"> {
  const limits = new Map(fired.flatMap((one) => one.limits.map((limit) => [limit.key, limit])));
  return {
    moves: fired.map(({ move }) => move),
    tasks: fired.flatMap(({ tasks }) => tasks),
    limits: [...limits.values()],
  };
}
