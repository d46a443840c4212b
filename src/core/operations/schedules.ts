/** Schedules: storing them, firing their slots within a drain's batch, and what a claim reports of them. */

import type { Row, Statement } from "../executor.ts";
import type { Json } from "../task.ts";
import { numberOrNull } from "./decode-task.ts";
import type { Operation, SqlTarget } from "./operation.ts";
import { bind } from "./statement.ts";
import type { LimitRow } from "./submit.ts";

/** When the slots of a schedule are. Exactly one of `cron` and `every_ms` is set. */
export interface Timing {
  readonly cron: string | null;
  readonly every_ms: number | null;
  readonly time_zone: string;
  readonly start_at_ms: number | null;
  readonly end_at_ms: number | null;
}

/** Which of several due slots get a task, and when the task is due. */
export interface SlotPolicy {
  readonly missed: "latest" | "skip" | "all";
  /** Most tasks at a time under `all`. */
  readonly max: number | null;
  /** How late a slot may be fired; null: no limit. */
  readonly grace_ms: number | null;
  readonly jitter_ms: number;
}

export type Overlap = "allow" | "skip" | "replace";

/** A schedule whose next slot is due. */
export interface DueSchedule {
  readonly group: string;
  readonly name: string;
  /** The slot it stands at; firing compares it. */
  readonly at_ms: number;
  /** Slots before this are left out. */
  readonly from_ms: number;
  readonly last_slot_ms: number | null;
  readonly timing: Timing;
  readonly policy: SlotPolicy;
  readonly overlap: Overlap;
  /** Whether only workers of its group know the payload. */
  readonly dynamic: boolean;
  readonly limits: LimitRow | null;
}

/** What a claim reports of schedules. */
export interface ScheduleReport {
  /** The definitions of the worker's group that are stored; null if none are, or the worker has no group. */
  readonly group: { readonly revision: number; readonly fingerprint: string } | null;
  /** The first slot that is not due yet; null if there is none. */
  readonly nextAtMs: number | null;
  readonly due: readonly DueSchedule[];
}

/** A task to queue for one slot. */
export interface SlotTask {
  readonly group: string;
  readonly name: string;
  readonly at_ms: number;
  readonly id: string;
  readonly key: string;
  readonly run_at_ms: number;
  /** JSON; null: the payload and the concurrency key that are stored. */
  readonly payload: string | null;
  readonly concurrency_key: string | null;
}

/** Where a schedule goes from the slot it stands at. */
export interface SlotMove {
  readonly group: string;
  readonly name: string;
  readonly at_ms: number;
  /** Null: it has no further slot. */
  readonly next_ms: number | null;
  /** The last slot that gets a task, and that task; null if none does. */
  readonly slot_ms: number | null;
  readonly task_id: string | null;
}

export interface Firing {
  readonly moves: readonly SlotMove[];
  readonly tasks: readonly SlotTask[];
  readonly limits: readonly LimitRow[];
  /** Whether a schedule may replace its last task. */
  readonly replaces: boolean;
}

/** A definition as it is stored. */
export interface ScheduleRow {
  readonly name: string;
  readonly timing: Timing;
  readonly policy: SlotPolicy;
  readonly overlap: Overlap;
  readonly max_failures: number | null;
  readonly dynamic: boolean;
  readonly paused: boolean;
  /** The columns of its tasks, as JSON. */
  readonly task: string;
  /** The first slot, after `from_ms`; both absent: the drain that finds the schedule computes it. */
  readonly first?: { readonly from_ms: number; readonly next_at_ms: number | null } | undefined;
}

/** The definitions of a group in code. */
export interface GroupDefinitions {
  readonly group: string;
  readonly revision: number;
  readonly fingerprint: string;
  readonly rows: readonly ScheduleRow[];
}

/**
 * Queues the tasks of due slots and moves their schedules on, each only if it still stands at that slot. So it is safe
 * to send again, from any number of drains. Returns the queues that got tasks.
 */
export function fireSchedules(target: SqlTarget, firing: Firing): Operation<readonly string[]> {
  const { moves, tasks, limits, replaces } = firing;
  const tasks_json = `[${tasks.map(taskJson).join()}]`;
  const moves_json = JSON.stringify(moves);
  const isPostgres = target.dialect === "postgres";
  const lock = isPostgres ? [bind(target, "lock_schedules", { moves_json })] : [];
  const keys_json = JSON.stringify(tasks.map(({ key }) => ({ key })));
  const insert: Statement[] = [];
  if (tasks.length > 0) {
    if (isPostgres) insert.push(bind(target, "lock_task_keys", { keys_json }));
    if (limits.length > 0)
      insert.push(bind(target, "upsert_limits", { limits_json: JSON.stringify(limits) }));
    if (replaces) insert.push(bind(target, "cancel_overlapped_tasks", { tasks_json }));
    insert.push(bind(target, "insert_scheduled_tasks", { tasks_json }));
    insert.push(bind(target, "insert_scheduled_keys", { tasks_json }));
  }
  const statements = [...lock, ...insert, bind(target, "move_schedules", { moves_json })];
  return {
    name: "fireSchedules",
    statements,
    decode: (results) =>
      tasks.length === 0 ? [] : [...new Set(results.at(-3)!.map(({ queue }) => String(queue)))],
  };
}

function taskJson({ payload, concurrency_key, ...item }: SlotTask): string {
  const fields = JSON.stringify(concurrency_key === null ? item : { ...item, concurrency_key });
  return payload === null ? fields : `${fields.slice(0, -1)},"payload":${payload}}`;
}

/** Stores the definitions of a group, unless the same ones or those of a newer revision are stored. */
export function syncSchedules(
  target: SqlTarget,
  definitions: GroupDefinitions,
): Operation<readonly string[]> {
  const { group, revision, fingerprint, rows } = definitions;
  const values = { schedule_group: group, revision, fingerprint };
  const lock = target.dialect === "postgres" ? [bind(target, "lock_schedule_group", values)] : [];
  return {
    name: "syncSchedules",
    statements: [
      ...lock,
      bind(target, "delete_schedules", {
        ...values,
        names_json: JSON.stringify(rows.map(({ name }) => name)),
      }),
      bind(target, "upsert_schedules", { ...values, schedules_json: rowsJson(rows) }),
      bind(target, "upsert_schedule_group", values),
    ],
    decode: () => [], // no queue gets tasks
  };
}

function rowsJson(rows: readonly ScheduleRow[]): string {
  return `[${rows.map(rowJson).join()}]`;
}

function rowJson({ timing, task, first, dynamic, paused, ...row }: ScheduleRow): string {
  const columns = { ...row, dynamic: Number(dynamic), paused, timing: JSON.stringify(timing), ...first };
  return `${JSON.stringify(columns).slice(0, -1)},"task":${task}}`;
}

/** Which schedule. */
export interface ScheduleRef {
  readonly group: string;
  readonly name: string;
}

/** A row of `wadi_schedules`, and the time at which it was read. */
export interface StoredSchedule {
  readonly row: Row;
  readonly nowMs: number;
}

/** Stores one schedule, unless one in code has its name, and returns what is stored. */
export function setSchedule(
  target: SqlTarget,
  group: string,
  row: ScheduleRow,
): Operation<StoredSchedule | null> {
  const values = { schedule_group: group, revision: 0, fingerprint: null, schedules_json: rowsJson([row]) };
  return changeThenRead(target, "setSchedule", bind(target, "upsert_schedules", values), {
    group,
    name: row.name,
  });
}

export function pauseSchedule(target: SqlTarget, ref: ScheduleRef): Operation<StoredSchedule | null> {
  return changeThenRead(target, "pauseSchedule", bind(target, "pause_schedule", refOf(ref)), ref);
}

export function resumeSchedule(target: SqlTarget, ref: ScheduleRef): Operation<StoredSchedule | null> {
  return changeThenRead(target, "resumeSchedule", bind(target, "resume_schedule", refOf(ref)), ref);
}

/** Deletes a schedule that is not defined in code, and returns what remains: null, or the one in code. */
export function removeSchedule(
  target: SqlTarget,
  ref: ScheduleRef,
): Operation<{ readonly removed: boolean; readonly left: StoredSchedule | null }> {
  const change = bind(target, "delete_schedule", refOf(ref));
  return {
    name: "removeSchedule",
    statements: [change, ...listOf(target, ref, 1)],
    decode: ([removed, rows]) => ({ removed: removed!.length > 0, left: rows!.map(stored)[0] ?? null }),
  };
}

export function listSchedules(
  target: SqlTarget,
  filter: Partial<ScheduleRef>,
  max: number,
): Operation<readonly StoredSchedule[]> {
  return {
    name: "listSchedules",
    statements: listOf(target, filter, max),
    decode: ([rows]) => rows!.map(stored),
  };
}

function changeThenRead(
  target: SqlTarget,
  name: string,
  change: Statement,
  ref: ScheduleRef,
): Operation<StoredSchedule | null> {
  return {
    name,
    statements: [change, ...listOf(target, ref, 1)],
    decode: (results) => results[1]!.map(stored)[0] ?? null,
  };
}

function listOf(
  target: SqlTarget,
  { group, name }: Partial<ScheduleRef>,
  max_schedules: number,
): Statement[] {
  const filter = { schedule_group: group ?? null, name: name ?? null };
  return [bind(target, "list_schedules", { ...filter, max_schedules })];
}

function refOf({ group, name }: ScheduleRef): { readonly schedule_group: string; readonly name: string } {
  return { schedule_group: group, name };
}

function stored(row: Row): StoredSchedule {
  return { row, nowMs: numberOrNull(row.now_ms)! };
}

/** Reads the report of `select_next_due`; null: there are no schedules. */
export function decodeScheduleReport(json: unknown): ScheduleReport | null {
  if (json === null || json === undefined) return null;
  const { group, next_at_ms, due } = JSON.parse(String(json)) as {
    readonly group: ScheduleReport["group"];
    readonly next_at_ms: number | null;
    readonly due: readonly (Omit<DueSchedule, "dynamic"> & { readonly dynamic: Json })[];
  };
  return { group, nextAtMs: next_at_ms, due: due.map((item) => ({ ...item, dynamic: item.dynamic === 1 })) };
}
