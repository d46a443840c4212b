/** A stored schedule as `wadi.schedules` returns it, read from its row. */
import type { Row } from "../../core/executor.ts";
import { numberOrNull } from "../../core/operations/decode-task.ts";
import type { SlotPolicy, StoredSchedule, Timing } from "../../core/operations/schedules.ts";
import type { LimitRow } from "../../core/operations/submit.ts";
import type { Json } from "../../core/task.ts";
import { slotsOf } from "../../schedules/slots.ts";
import type { FleetLimits } from "../fleet-limits.ts";
import type { ScheduledTaskOptions } from "./schedule-options.ts";

/** A schedule as it is stored. */
export interface ScheduleState {
  /** Unique in its group. */
  readonly name: string;
  /** The group it belongs to. */
  readonly group: string;
  /** Whether a worker defines it, or `wadi.schedules.set` stored it. */
  readonly source: "code" | "stored";
  /** Name of its tasks. */
  readonly task: string;
  /** Queue of its tasks. */
  readonly queue: string;
  /** Null if it is made in code. */
  readonly payload: Json;
  /** Whether the payload is a function of the slot, which only workers with the definition have. */
  readonly payloadInCode: boolean;
  /** The expression; null if it has a fixed distance. */
  readonly cron: string | null;
  /** Distance of its slots in milliseconds; null if it has an expression. */
  readonly everyMs: number | null;
  /** Zone in which the expression is read. */
  readonly timeZone: string;
  /** No slot before this; null for no start. */
  readonly startAtMs: number | null;
  /** No slot at or after this; null for no end. */
  readonly endAtMs: number | null;
  /** What becomes of slots that no worker fired in time. */
  readonly missed: "latest" | "skip" | "all";
  /** Most tasks queued at a time under `all`, else null. */
  readonly max: number | null;
  /** How late a slot may be queued, in milliseconds; null for no limit. */
  readonly graceMs: number | null;
  /** How long after its slot a task is due at most, in milliseconds. */
  readonly jitterMs: number;
  /** What becomes of a slot while the last task has not ended. */
  readonly overlap: "allow" | "skip" | "replace";
  /** After how many failures in a row it pauses itself; null for never. */
  readonly pauseAfterFailures: number | null;
  /** Since when it is paused; null if it is not. */
  readonly pausedAtMs: number | null;
  /** Its definition, `wadi.schedules.pause`, or `pauseAfterFailures`; null if it is not paused. */
  readonly pausedBy: "definition" | "operator" | "failures" | null;
  /** Failures in a row, as they were counted when the last slot fired. */
  readonly failures: number;
  /** The slot that comes next, in the past if no drain has fired it yet; null if none follows. */
  readonly nextAtMs: number | null;
  /** The last slot that got a task; null if none did. */
  readonly lastSlotMs: number | null;
  /** Id of that task. */
  readonly lastTaskId: string | null;
}

export async function decodeSchedule(stored: StoredSchedule): Promise<ScheduleState> {
  const { row } = stored;
  const { cron, every_ms, time_zone, start_at_ms, end_at_ms } = timingOf(row);
  const { missed, max, grace_ms, jitter_ms } = JSON.parse(String(row.policy)) as SlotPolicy;
  const task = taskOf(row);
  const isDynamic = Number(row.dynamic) === 1;
  return {
    name: String(row.name),
    group: String(row.group_name),
    source: row.source as ScheduleState["source"],
    ...{
      task: task.name,
      queue: task.queue,
      payload: isDynamic ? null : task.payload,
      payloadInCode: isDynamic,
    },
    ...{ cron, everyMs: every_ms, timeZone: time_zone, startAtMs: start_at_ms, endAtMs: end_at_ms },
    ...{ missed, max, graceMs: grace_ms, jitterMs: jitter_ms },
    overlap: row.overlap as ScheduleState["overlap"],
    pauseAfterFailures: numberOrNull(row.max_failures),
    pausedAtMs: numberOrNull(row.paused_at_ms),
    pausedBy: (row.paused_by ?? null) as ScheduleState["pausedBy"],
    failures: Math.max(0, Number(row.failures)),
    nextAtMs: await firstAfter(stored),
    lastSlotMs: numberOrNull(row.last_slot_ms),
    lastTaskId: (row.last_task_id ?? null) as string | null,
  };
}

/** The next slot. Where it is still to be computed, by a drain or after a pause, it is computed here. */
export async function firstAfter({ row, nowMs }: StoredSchedule): Promise<number | null> {
  const atMs = numberOrNull(row.next_at_ms);
  if (atMs === null) return null;
  const fromMs = row.paused_at_ms === null ? numberOrNull(row.from_ms)! : nowMs;
  if (atMs > fromMs) return atMs;
  return (await slotsOf(timingOf(row)))(fromMs - 1);
}

/** The options of a task that is queued out of turn. */
export function optionsOf(row: Row): ScheduledTaskOptions {
  const { queue, max_attempts, max_crashes, priority, metadata, ...task } = taskOf(row);
  const { correlation_id, limits, expires_in_ms } = task;
  return {
    ...{ queue, priority, metadata, maxAttempts: max_attempts, maxCrashes: max_crashes },
    ...(correlation_id === null ? {} : { correlationId: correlation_id }),
    ...(expires_in_ms === null ? {} : { expiresInMs: expires_in_ms }),
    ...(limits === null ? {} : { limits: limitsOf(limits) }),
  };
}

/** The task to submit when one of its tasks has failed for good, as JSON; null for none. */
export function onFailedOf(row: Row): string | null {
  const { on_failed } = taskOf(row);
  return on_failed === undefined ? null : JSON.stringify(on_failed);
}

function limitsOf({ key, concurrency, rate_count, rate_per_ms }: LimitRow): FleetLimits {
  return {
    key,
    ...(concurrency === null ? {} : { concurrency }),
    ...(rate_count === null ? {} : { rate: { count: rate_count, perMs: rate_per_ms! } }),
  };
}

function timingOf(row: Row): Timing {
  return JSON.parse(String(row.timing)) as Timing;
}

/** The columns of its tasks. */
function taskOf(row: Row): {
  readonly name: string;
  readonly queue: string;
  readonly payload: Json;
  readonly metadata: { readonly [key: string]: Json };
  readonly max_attempts: number;
  readonly max_crashes: number;
  readonly priority: number;
  readonly correlation_id: string | null;
  readonly limits: LimitRow | null;
  readonly expires_in_ms: number | null;
  readonly on_failed?: Json;
} {
  return JSON.parse(String(row.task));
}
