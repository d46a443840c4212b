/** Operations that only read: tasks, their states and failures, lists and counts. */

import type { Row, Statement } from "../executor.ts";
import type { Task, TaskFailure, TaskStatus } from "../task.ts";
import { decodeFailure, decodeTask, numberOrNull } from "./decode-task.ts";
import { type Operation, type SqlTarget, single } from "./operation.ts";
import { bind, type Values } from "./statement.ts";

/** One task, by its id or by the key that points at it. */
export type TaskRef = { readonly id: string } | { readonly key: string };

/** The fields that change while a task waits and runs. */
export type TaskState = Pick<Task, "id" | "status" | "progress" | "message" | "attempt">;

/** Ids and keys of tasks; no list holds one of them twice. */
export interface TaskRefs {
  /** Tasks that are read only once they are terminal. */
  readonly ids: readonly string[];
  /** Tasks whose every state is read. */
  readonly watched: readonly string[];
  readonly keys: readonly string[];
}

/** The state of a task that was asked for by id or by key. */
export interface RefState extends TaskState {
  /** The id or key that was asked for. */
  readonly ref: string;
  readonly byKey: boolean;
}

/** Null filters match everything. */
export type ListFilter = Values<"list_related_tasks">;

/** Tasks by status. */
export type StatusCounts = Record<TaskStatus, number>;

export function refValues(ref: TaskRef): { id: string | null; key: string | null } {
  return "id" in ref ? { id: ref.id, key: null } : { id: null, key: ref.key };
}

/** Reads many tasks by id, as part of another operation. */
export function selectTasks(target: SqlTarget, ids: readonly string[]): Statement {
  return bind(target, "select_tasks", { ids_json: JSON.stringify(ids) });
}

export function getTask(target: SqlTarget, ref: TaskRef): Operation<Task | null> {
  return single("get", bind(target, "select_task", refValues(ref)), ([row]) =>
    row ? decodeTask(row) : null,
  );
}

/** Lists failed attempts, oldest first. */
export function listFailures(target: SqlTarget, id: string): Operation<TaskFailure[]> {
  return single("failures", bind(target, "list_failures", { id }), (rows) => rows.map(decodeFailure));
}

/** Reads many tasks by id, in no particular order; those that do not exist are left out. */
export function getTasks(target: SqlTarget, ids: readonly string[]): Operation<Task[]> {
  return single("get", selectTasks(target, ids), (rows) => rows.map(decodeTask));
}

export function getStatus(target: SqlTarget, ref: TaskRef): Operation<TaskState | null> {
  return single("getStatus", bind(target, "select_task_status", refValues(ref)), ([row]) =>
    row ? decodeState(row) : null,
  );
}

/** Reads the states of many tasks, in no particular order; those that do not exist are left out. */
export function getStates(target: SqlTarget, { ids, watched, keys }: TaskRefs): Operation<RefState[]> {
  const values = {
    ids_json: JSON.stringify(ids),
    watched_json: JSON.stringify(watched),
    keys_json: JSON.stringify(keys),
  };
  return single("getStatus", bind(target, "select_task_states", values), (rows) =>
    rows.map(({ name, by_key, ...row }) => ({
      ...decodeState(row),
      ref: String(name),
      byKey: Number(by_key) === 1,
    })),
  );
}

function decodeState(row: Row): TaskState {
  return { ...row, progress: numberOrNull(row.progress), attempt: Number(row.attempt) } as TaskState;
}

export function listTasks(target: SqlTarget, filter: ListFilter): Operation<Task[]> {
  const isPlain = filter.root_id === null && filter.correlation_id === null;
  const statement = isPlain ? bind(target, "list_tasks", filter) : bind(target, "list_related_tasks", filter);
  return single("list", statement, (rows) => rows.map(decodeTask));
}

/**
 * Counts by queue and status, with a zero for each status without tasks; a queue that was asked for is always present.
 */
export function stats(
  target: SqlTarget,
  queues: readonly string[] | null,
): Operation<Record<string, StatusCounts>> {
  const queues_json = queues === null ? null : JSON.stringify(queues);
  return single("stats", bind(target, "count_tasks", { queues_json }), (rows) => {
    const counts = new Map<string, StatusCounts>();
    const of = (queue: string) => {
      const known = counts.get(queue) ?? { queued: 0, running: 0, succeeded: 0, failed: 0, canceled: 0 };
      counts.set(queue, known);
      return known;
    };
    queues?.forEach(of);
    for (const row of rows) of(String(row.queue))[String(row.status) as TaskStatus] = Number(row.tasks);
    // Not a literal: a queue may have any name, "__proto__" included.
    return Object.fromEntries(counts);
  });
}

/** How many tasks of the queue are queued, due or not. Reads their index entries only. */
export function queueDepth(target: SqlTarget, queue: string): Operation<number> {
  return countQueued("queueDepth", target, queue, Number.MAX_SAFE_INTEGER);
}

/** How many more tasks fit below `maxDepth`. Reads at most `maxDepth` rows. */
export function queueHeadroom(target: SqlTarget, queue: string, maxDepth: number): Operation<number> {
  const counted = countQueued("queueHeadroom", target, queue, maxDepth);
  return { ...counted, decode: (results) => Math.max(0, maxDepth - counted.decode(results)) };
}

function countQueued(name: string, target: SqlTarget, queue: string, maxDepth: number): Operation<number> {
  return single(name, bind(target, "count_queued", { queue, max_depth: maxDepth }), ([row]) =>
    Number(row!.tasks),
  );
}
