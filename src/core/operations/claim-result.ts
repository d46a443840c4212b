/** The result of a claim, and how it is read from the rows of the claim's statements. */

import type { Row } from "../executor.ts";
import type { Task, TaskStatus } from "../task.ts";
import { NO_SIZES, type SizeReport } from "./claim-response-size.ts";
import { decodeTask, numberOrNull } from "./decode-task.ts";
import { decodeScheduleReport, type ScheduleReport } from "./schedules.ts";

/** Due tasks of one name that a worker has no handler for. */
export interface UnhandledTasks {
  /** Their name. */
  readonly name: string;
  /** Their queue. */
  readonly queue: string;
  /** 100 stands for that many or more. */
  readonly tasks: number;
}

/** A task whose lease expired. */
export interface RecoveredTask {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly attempt: number;
  readonly status: TaskStatus;
}

/** A claimed task, with what only the worker needs to know of it. */
export interface ClaimedTask {
  readonly task: Task;
  /** The length of its payload as JSON text. */
  readonly bytes: number;
  /** The concurrency key that limits it over the whole fleet; empty if there is none. */
  readonly limitKey: string;
  /** Whether it must not start before a settlement announced it. */
  readonly isOnHold: boolean;
}

export interface ClaimResult extends SizeReport {
  /** By priority, due time and id. */
  readonly tasks: Task[];
  /** The same tasks. */
  readonly claimed: readonly ClaimedTask[];
  /** Tasks whose lease expired, each with its new status. */
  readonly recovered: readonly RecoveredTask[];
  /** When the next task of the lanes is due or the next lease of any task expires; null if there is neither. */
  readonly nextDueAtMs: number | null;
  readonly nowMs: number;
  /** Whether tasks with fleet-wide limits are queued in the lanes: the next claim should be a limited one. */
  readonly limited: boolean;
  /** Whether tasks of any lane have expired that are not ended yet: the next claim should end them. */
  readonly expired: boolean;
  /** The expired tasks that it ended. */
  readonly ended: readonly string[];
  /** The answer to a resend: it lists what an earlier try claimed and claimed nothing itself, so more may be due. */
  readonly resent: boolean;
  /** Only the claimed tasks are known: the request asked for no more than that. */
  readonly claimOnly: boolean;
  /** Null if the request did not ask for them. */
  readonly unhandled: readonly UnhandledTasks[] | null;
  /** Null if there are no schedules. `nextDueAtMs` leaves them out. */
  readonly schedules: ScheduleReport | null;
}

/** Reads a whole claim. `next` is the row of `select_next_due`. */
export function decodeClaim(
  recovered: readonly Row[],
  claimedRows: readonly Row[],
  next: Row,
  unhandled: readonly Row[] | null,
  resent: boolean,
): ClaimResult {
  const claimed = decodeClaimed(claimedRows);
  // For keys at their concurrency limit no time is known, which the largest number stands for.
  const due = [next.run_at_ms, next.lease_until_ms, next.limited_at_ms]
    .filter((ms) => ms !== null)
    .map(Number)
    .filter((ms) => ms < Number.MAX_SAFE_INTEGER); // drops NaN too: another SDK may have stored text as a time
  return {
    tasks: claimed.map(({ task }) => task),
    claimed,
    sizes: NO_SIZES,
    skippedLarge: false,
    oversized: [],
    recovered: recovered.map(decodeRecovered),
    nextDueAtMs: due.length === 0 ? null : Math.ceil(Math.min(...due)),
    nowMs: numberOrNull(next.now_ms)!,
    limited: next.limited_at_ms !== null,
    expired: next.expires_at_ms !== null && Number(next.expires_at_ms) <= Number(next.now_ms),
    ended: [],
    resent,
    claimOnly: false,
    unhandled: unhandled === null ? null : unhandled.map(decodeUnhandled),
    schedules: decodeScheduleReport(next.schedules_json),
  };
}

/** Reads a claim-only request: nothing is known except the claimed tasks, and the time at which they were claimed. */
export function decodeClaimOnly(results: readonly Row[][]): ClaimResult {
  const rows = results.flat();
  const now_ms = Math.max(0, ...rows.filter(isClaimedRow).map((row) => numberOrNull(row.updated_at_ms) ?? 0));
  const next = { now_ms, run_at_ms: null, lease_until_ms: null, limited_at_ms: null, expires_at_ms: null };
  return { ...decodeClaim([], rows, next, null, false), claimOnly: true };
}

/** Rows without an id come from the statements that count a limit's starts. */
export function isClaimedRow({ id }: Row): boolean {
  return id !== undefined;
}

function decodeClaimed(rows: readonly Row[]): ClaimedTask[] {
  // RETURNING promises no order.
  return rows
    .filter(isClaimedRow)
    .map((row) => ({
      task: decodeTask(row),
      bytes: String(row.payload).length,
      limitKey: String(row.concurrency_key ?? ""),
      isOnHold: row.hold === row.worker_id,
    }))
    .sort((a, b) => byClaimOrder(a.task, b.task));
}

function decodeRecovered({ id, name, queue, attempt, status }: Row): RecoveredTask {
  const texts = { id, name, queue, status } as Omit<RecoveredTask, "attempt">;
  return { ...texts, attempt: Number(attempt) };
}

function decodeUnhandled({ queue, name, tasks }: Row): UnhandledTasks {
  return { name: String(name), queue: String(queue), tasks: Number(tasks) };
}

/** The order in which a claim takes tasks: by priority, due time and id. */
export function byClaimOrder(a: Task, b: Task): number {
  return b.priority - a.priority || a.runAtMs - b.runAtMs || (a.id < b.id ? -1 : Number(a.id > b.id));
}
