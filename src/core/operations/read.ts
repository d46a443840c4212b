import { decodeTask } from "../codec.ts";
import type { Operation, Target } from "../operation.ts";
import { bind } from "../statement.ts";
import { TASK_STATUSES, type Task, type TaskStatus } from "../task.ts";

/** One task, by its id or by the key that points at it. */
export type TaskRef = { readonly id: string } | { readonly key: string };

export interface TaskStatusOnly {
  readonly id: string;
  readonly status: TaskStatus;
}

export interface ListFilter {
  readonly status: TaskStatus | null;
  readonly queue: string | null;
  readonly name: string | null;
  readonly rootId: string | null;
  readonly correlationId: string | null;
  readonly limit: number;
  readonly offset: number;
}

/** Tasks by status. */
export type StatusCounts = Record<TaskStatus, number>;

export function refValues(ref: TaskRef): { id: string | null; key: string | null } {
  return "id" in ref ? { id: ref.id, key: null } : { id: null, key: ref.key };
}

export function getTask(target: Target, ref: TaskRef): Operation<Task | null> {
  return {
    name: "get",
    statements: [bind(target, "select_task", refValues(ref))],
    decode: ([rows]) => (rows?.[0] === undefined ? null : decodeTask(rows[0])),
  };
}

export function getStatus(target: Target, ref: TaskRef): Operation<TaskStatusOnly | null> {
  return {
    name: "getStatus",
    statements: [bind(target, "select_task_status", refValues(ref))],
    decode: ([rows]) => {
      const row = rows?.[0];
      return row === undefined ? null : { id: String(row.id), status: String(row.status) as TaskStatus };
    },
  };
}

export function listTasks(target: Target, filter: ListFilter): Operation<Task[]> {
  const common = {
    status: filter.status,
    queue: filter.queue,
    name: filter.name,
    max_tasks: filter.limit,
    skip_tasks: filter.offset,
  };
  const related = filter.rootId !== null || filter.correlationId !== null;
  return {
    name: "list",
    statements: [
      related
        ? bind(target, "list_related_tasks", {
            ...common,
            root_id: filter.rootId,
            correlation_id: filter.correlationId,
          })
        : bind(target, "list_tasks", common),
    ],
    decode: ([rows]) => rows!.map(decodeTask),
  };
}

/** Counts by queue and status, zero-filled; a queue that was asked for is always present. */
export function stats(
  target: Target,
  queues: readonly string[] | null,
): Operation<Record<string, StatusCounts>> {
  return {
    name: "stats",
    statements: [
      bind(target, "count_tasks", { queues_json: queues === null ? null : JSON.stringify(queues) }),
    ],
    decode: ([rows]) => {
      const zero = () => Object.fromEntries(TASK_STATUSES.map((status) => [status, 0])) as StatusCounts;
      const counts = new Map((queues ?? []).map((queue) => [queue, zero()]));
      for (const row of rows!) {
        const queue = String(row.queue);
        if (!counts.has(queue)) counts.set(queue, zero());
        counts.get(queue)![String(row.status) as TaskStatus] = Number(row.tasks);
      }
      // Not by assignment: a queue may be called "__proto__".
      return Object.fromEntries(counts);
    },
  };
}

/** How many more tasks fit below `maxDepth`. Reads at most `maxDepth` rows. */
export function queueDepth(target: Target, queue: string, maxDepth: number): Operation<number> {
  return {
    name: "queueDepth",
    statements: [bind(target, "count_queued", { queue, max_depth: maxDepth })],
    decode: ([rows]) => Math.max(0, maxDepth - Number(rows![0]!.tasks)),
  };
}
