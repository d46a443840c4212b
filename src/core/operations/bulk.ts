/**
 * Bulk operations: cancel, retry or purge every task that matches a filter, page by page. The tasks of a page are read
 * in one round trip and changed in the next, by their ids, under the conditions of the filter again.
 */
import type { Row } from "../executor.ts";
import type { TaskStatus } from "../task.ts";
import { numberOrNull } from "./decode-task.ts";
import { type Operation, type SqlTarget, single } from "./operation.ts";
import { bind } from "./statement.ts";

export type BulkKind = "cancel" | "retry" | "purge";

/** The tasks that are meant; null matches everything. A retry always has a status. */
export interface BulkScope {
  readonly queue: string | null;
  readonly name: string | null;
  readonly status: TaskStatus | null;
  readonly correlationId: string | null;
  readonly rootId: string | null;
}

/** How many tasks match, and the time of the count. */
export interface BulkCount {
  readonly tasks: number;
  readonly cutoffMs: number;
}

/** One task of a page. */
export interface BulkEntry {
  readonly id: string;
  /** Where the next page begins if this is the last one; null for a running task, which is read by each page. */
  readonly position: string | null;
  readonly matches: boolean;
}

/** A task that was changed: its status after a cancel, its queue after a retry. */
export interface BulkChange {
  readonly id: string;
  readonly status: TaskStatus | null;
  readonly queue: string | null;
}

/** Most index entries that a count reads of each queue and status, or of each queue and name. */
const MAX_COUNTED = 100_000;

const STATUSES: { readonly [Kind in BulkKind]: readonly TaskStatus[] } = {
  cancel: ["queued", "running"],
  retry: ["failed"],
  purge: ["succeeded", "failed", "canceled"],
};

/** Whether the tasks come from the index of the root or of the correlation id. */
const isRelated = ({ correlationId, rootId }: BulkScope) => correlationId !== null || rootId !== null;

export function countBulk(target: SqlTarget, kind: BulkKind, scope: BulkScope): Operation<BulkCount> {
  const { queue, name, status, correlationId: correlation_id, rootId: root_id } = scope;
  const statuses_json = JSON.stringify(status === null ? STATUSES[kind] : [status]);
  const values = { queue, name, status, max_tasks: MAX_COUNTED };
  const statement = isRelated(scope)
    ? bind(target, "count_related_tasks", { correlation_id, root_id, statuses_json, queue, name })
    : bind(target, kind === "cancel" ? "count_live_tasks" : "count_ended_tasks", values);
  return single("count", statement, ([row]) => ({
    tasks: Number(row!.tasks),
    cutoffMs: numberOrNull(row!.ms)!,
  }));
}

/** @param cutoffMs null: the present. @param position null: from the beginning */
export function selectBulkPage(
  target: SqlTarget,
  kind: BulkKind,
  scope: BulkScope,
  page: { readonly cutoffMs: number | null; readonly position: string | null; readonly maxTasks: number },
): Operation<BulkEntry[]> {
  const { queue, name, status, correlationId: correlation_id, rootId: root_id } = scope;
  const { cutoffMs: cutoff_ms, position, maxTasks: max_tasks } = page;
  const values = { queue, name, status, cutoff_ms, position, max_tasks };
  const statement = isRelated(scope)
    ? bind(target, "select_related_page", { ...values, correlation_id, root_id })
    : bind(target, kind === "cancel" ? "select_live_page" : "select_ended_page", values);
  return single("page", statement, (rows) => rows.map(decodeEntry));
}

function decodeEntry({ id, position, matches }: Row): BulkEntry {
  return {
    id: String(id),
    position: position === null ? null : String(position),
    matches: Number(matches) === 1,
  };
}

/** Changes the tasks of a page. Sent again, it changes those that still match, and returns only those. */
export function changeListed(
  target: SqlTarget,
  kind: BulkKind,
  { status }: BulkScope,
  { ids, cutoffMs, resetAttempt }: { ids: readonly string[]; cutoffMs: number; resetAttempt: boolean },
): Operation<BulkChange[]> {
  const values = { ids_json: JSON.stringify(ids), cutoff_ms: cutoffMs, status };
  const decode = (results: readonly (readonly Row[])[]) => results.at(-1)!.map(decodeChange);
  if (kind === "cancel") {
    return { name: "cancelMany", statements: [bind(target, "cancel_listed_tasks", values)], decode };
  }
  if (kind === "purge") {
    return { name: "purgeMany", statements: [bind(target, "delete_listed_tasks", values)], decode };
  }
  const retry = { ...values, status: status ?? "failed", reset_attempt: resetAttempt ? 1 : 0 };
  // As for one retry: on Postgres a keyed submit must not decide that a key is free while its task comes back.
  const locks = target.dialect === "postgres" ? [bind(target, "lock_listed_keys", values)] : [];
  return {
    name: "retryMany",
    statements: [...locks, bind(target, "retry_listed_tasks", retry)],
    decode,
  };
}

function decodeChange({ id, status, queue }: Row): BulkChange {
  return {
    id: String(id),
    status: status === undefined ? null : (String(status) as TaskStatus),
    queue: queue === undefined ? null : String(queue),
  };
}
