/** Submitting tasks: all tasks of one submit are queued in one round trip, whether they have keys or not. */

import type { Row, Statement } from "../executor.ts";
import type { StatementName } from "../generated/statements.ts";
import type { ConflictPolicy, Task } from "../task.ts";
import { decodeTask } from "./decode-task.ts";
import type { Operation, SqlTarget } from "./operation.ts";
import { selectTasks } from "./read.ts";
import { bind, type Values } from "./statement.ts";

/** A row of `wadi_limits`. */
export interface LimitRow {
  readonly key: string;
  readonly concurrency: number | null;
  readonly rate_count: number | null;
  readonly rate_per_ms: number | null;
}

/** A task that has been checked and serialised and is ready to be sent. */
export interface NewTask {
  /** Its columns, as the parameters of the statement that inserts one task. */
  readonly columns: Values<"insert_task">;
  readonly key: string | null;
  readonly conflict: ConflictPolicy | "debounce";
  /** Whether the submit is refused if a task of another name has the key. */
  readonly requiresSameName: boolean;
  /** Under `debounce`: how long after its creation a task is due at the latest. */
  readonly maxDelayMs?: number | undefined;
  /** Under `throttle`: a task of the key younger than this is returned, whatever its status. */
  readonly throttleMs?: number | undefined;
  /** The limits of its concurrency key from now on; null if the task has none. */
  readonly limits: LimitRow | null;
}

/**
 * The outcome of a submit. `created`: a new task. `reused`: the task that the key had. `debounced`: that task, with the
 * newest payload and a later due time. `rejected`: refused, under the policy `reject` or because the key belongs to
 * another name.
 */
export type SubmitOutcome = "created" | "reused" | "debounced" | "rejected";

/** The task a submit ended with: a new one, the one that the key had, or the one that made it refuse. */
export type SubmittedTask<Payload = unknown, Result = unknown> = Task<Payload, Result> & {
  readonly outcome: SubmitOutcome;
};

/** Queues tasks in one round trip. Keys must differ from each other within one operation. */
export function submit(
  target: SqlTarget,
  tasks: readonly NewTask[],
  isResent = false,
): Operation<SubmittedTask[]> {
  const unkeyed = tasks.filter((task) => task.key === null);
  const keyed = tasks.filter((task) => task.key !== null);
  const insert = [
    ...upsertLimits(target, tasks),
    ...(unkeyed.length === 0 ? [] : insertUnkeyed(target, unkeyed)),
  ];
  // The tasks without a key of a lost first try may be stored already, and even be claimed by now: read them.
  const ids = isResent ? unkeyed.map(({ columns }) => columns.id) : [];
  const read = ids.length === 0 ? [] : [selectTasks(target, ids)];
  const submitKeyed = keyed.length === 0 ? [] : insertKeyed(target, keyed);
  return {
    name: "submit",
    statements: [...insert, ...read, ...submitKeyed],
    decode: (results) => {
      // One statement reads the clock once, so all tasks without a key share a time. A resend may return none.
      const created = results[insert.length - 1]?.[0]?.created_at_ms ?? Date.now();
      const rows = read.length === 0 ? [] : results[insert.length]!;
      const stored = new Map(rows.map((row) => [row.id, withOutcome(row, "created")]));
      const unkeyedTask = (task: NewTask) =>
        stored.get(task.columns.id) ?? createdTask(task, Number(created));
      return decodeSubmitted(tasks, unkeyedTask, keyed.length === 0 ? [] : results.at(-1)!);
    },
    resend: () => submit(target, tasks, true),
  };
}

/** If one key has several limits, the last ones count. */
function upsertLimits(target: SqlTarget, tasks: readonly NewTask[]): Statement[] {
  const limits = new Map(
    tasks.flatMap((task) => (task.limits === null ? [] : [[task.limits.key, task.limits]])),
  );
  if (limits.size === 0) return [];
  return [bind(target, "upsert_limits", { limits_json: JSON.stringify([...limits.values()]) })];
}

/** Ends with a statement that returns the creation time. A single task goes in plain parameters, which cost less. */
function insertUnkeyed(target: SqlTarget, tasks: readonly NewTask[]): Statement[] {
  const { columns } = tasks[0]!;
  if (tasks.length === 1) return [bind(target, "insert_task", columns)];
  return [
    bind(target, "insert_tasks", { groups_json: groupsJson(tasks) }),
    bind(target, "select_created", { id: columns.id }),
  ];
}

/** The columns that neighbours in a group have in common: all except id and payload. */
const SHARED_COLUMNS = [
  "name",
  "queue",
  "max_attempts",
  "max_crashes",
  "priority",
  "metadata",
  "run_at_ms",
  "delay_ms",
  "expires_in_ms",
  "parent_id",
  "root_id",
  "correlation_id",
  "concurrency_key",
  "on_failed",
] as const;

/** The beginning of a JSON object that holds the shared columns. Metadata is JSON already. */
function headJson({ columns }: NewTask): string {
  const fields = SHARED_COLUMNS.map(
    (field) => `"${field}":${field === "metadata" ? columns.metadata : JSON.stringify(columns[field])}`,
  );
  return `{${fields.join()}`;
}

/**
 * Neighbours that share their columns form one group, so that the columns are sent and read once. A payload that is not
 * an object is sent as the only element of an array, because SQLite returns the text of objects and arrays without
 * reading what precedes them.
 */
function groupsJson(tasks: readonly NewTask[]): string {
  let json = "";
  let last: NewTask["columns"] | undefined;
  for (const task of tasks) {
    const { columns } = task;
    const isNext = last !== undefined && SHARED_COLUMNS.every((field) => columns[field] === last![field]);
    const head = isNext ? "," : `${last === undefined ? "[" : "}},"}${headJson(task)},"tasks":{`;
    const { id, payload } = columns;
    json += `${head}"${id}":${payload.startsWith("{") ? payload : `[${payload}]`}`;
    last = columns;
  }
  return `${json}}}]`;
}

/** Only one statement carries the payloads; the others carry the fields that decide about a key. */
function insertKeyed(target: SqlTarget, tasks: readonly NewTask[]): Statement[] {
  const keys = tasks.map(({ columns: { id, name }, key, conflict, throttleMs, requiresSameName }) => {
    const own_name = requiresSameName ? name : undefined;
    return { id, key, name, own_name, conflict, throttle_ms: throttleMs };
  });
  const items = tasks.map((task, i) => {
    const own = { ...keys[i], name: undefined, max_delay_ms: task.maxDelayMs };
    return `${headJson(task)},${JSON.stringify(own).slice(1, -1)},"payload":${task.columns.payload}}`;
  });
  const values = { keys_json: JSON.stringify(keys), tasks_json: `[${items.join()}]` };
  const has = (policy: NewTask["conflict"]) => tasks.some(({ conflict }) => conflict === policy);
  const names: StatementName[] = has("replace") ? ["cancel_replaced_tasks"] : [];
  if (target.dialect === "postgres") {
    names.unshift("lock_task_keys");
    if (has("debounce")) names.push("lock_debounced_tasks");
    names.push("submit_keyed_tasks");
  } else names.push("free_task_keys", "insert_keyed_tasks", "insert_task_keys", "select_keyed_tasks");
  return names.map((name) => bind(target, name, values));
}

/** The outcome of a submit whose key kept its task; `reused` for all other policies. */
const OUTCOMES: { readonly [conflict: string]: SubmitOutcome } = {
  reject: "rejected",
  debounce: "debounced",
};

function decodeSubmitted(
  tasks: readonly NewTask[],
  unkeyedTask: (task: NewTask) => SubmittedTask,
  keyedRows: readonly Row[],
): SubmittedTask[] {
  const byKey = new Map(keyedRows.map((row) => [row.task_key, row]));
  return tasks.map((task) => {
    // A key without a row: between a lost try and its resend, another submit took the key and lost it again.
    const current = task.key === null ? undefined : byKey.get(task.key);
    if (current === undefined) return unkeyedTask(task);
    if (current.id === task.columns.id) return withOutcome(current, "created");
    if (task.requiresSameName && current.name !== task.columns.name) return withOutcome(current, "rejected");
    return withOutcome(current, OUTCOMES[task.conflict] ?? "reused");
  });
}

function withOutcome(row: Row, outcome: SubmitOutcome): SubmittedTask {
  return Object.assign(decodeTask(row), { outcome });
}

/** An insert without a key returns only the creation time, so that no payload is sent back; the rest is known here. */
function createdTask({ columns }: NewTask, createdAtMs: number): SubmittedTask {
  const runAtMs = columns.run_at_ms ?? createdAtMs + columns.delay_ms;
  const { expires_in_ms } = columns;
  const row = {
    ...columns,
    status: "queued",
    attempt: 0,
    crashes: 0,
    crash_limit: columns.max_crashes,
    run_at_ms: runAtMs,
    expires_at_ms: expires_in_ms === null ? null : Math.max(createdAtMs, runAtMs) + expires_in_ms,
    root_id: columns.root_id ?? columns.id,
    created_at_ms: createdAtMs,
    updated_at_ms: createdAtMs,
  };
  return withOutcome(row, "created");
}
