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
  /** Its columns, as the statement that inserts one task takes them. */
  readonly columns: Values<"insert_task">;
  readonly key: string | null;
  readonly conflict: ConflictPolicy | "debounce";
  /** Whether a key that a task of another name holds is refused. */
  readonly isOwnName: boolean;
  /** Under `debounce`: how long after its creation a task is due at the latest. */
  readonly maxDelayMs?: number | undefined;
  /** How young the key's task is to be handed back whatever its status. */
  readonly throttleMs?: number | undefined;
  /** What its concurrency key allows from now on; null where the task has none. */
  readonly limits: LimitRow | null;
}

/**
 * What became of a submit: a new task, the task the key had, that task with the newest payload and a later due time, or
 * a refusal: under the policy `reject`, or because the key belongs to another name.
 */
export type SubmitOutcome = "created" | "reused" | "debounced" | "rejected";

/** The task a submit ended with: a new one, the one the key had, or the one that forbids the key. */
export type SubmittedTask<Payload = unknown, Result = unknown> = Task<Payload, Result> & {
  readonly outcome: SubmitOutcome;
};

/** Queues tasks in one round trip. Keys must differ from each other within one operation. */
export function submit(
  target: SqlTarget,
  tasks: readonly NewTask[],
  isResent = false,
): Operation<SubmittedTask[]> {
  const plain = tasks.filter((task) => task.key === null);
  const keyed = tasks.filter((task) => task.key !== null);
  const insert = [...upsertLimits(target, tasks), ...(plain.length === 0 ? [] : insertPlain(target, plain))];
  // The plain tasks of a lost first try are there already, perhaps claimed by now: read them.
  const ids = isResent ? plain.map(({ columns }) => columns.id) : [];
  const read = ids.length === 0 ? [] : [selectTasks(target, ids)];
  const submitKeyed = keyed.length === 0 ? [] : insertKeyed(target, keyed);
  return {
    name: "submit",
    statements: [...insert, ...read, ...submitKeyed],
    decode: (results) => {
      // One statement, one clock: all plain tasks have the same time. A resent one may be without.
      const created = results[insert.length - 1]?.[0]?.created_at_ms ?? Date.now();
      const rows = read.length === 0 ? [] : results[insert.length]!;
      const stored = new Map(rows.map((row) => [row.id, withOutcome(row, "created")]));
      const plainTask = (task: NewTask) => stored.get(task.columns.id) ?? createdTask(task, Number(created));
      return decodeSubmitted(tasks, plainTask, keyed.length === 0 ? [] : results.at(-1)!);
    },
    resend: () => submit(target, tasks, true),
  };
}

/** Of several limits for one key the last one counts. */
function upsertLimits(target: SqlTarget, tasks: readonly NewTask[]): Statement[] {
  const limits = new Map(
    tasks.flatMap((task) => (task.limits === null ? [] : [[task.limits.key, task.limits]])),
  );
  if (limits.size === 0) return [];
  return [bind(target, "upsert_limits", { limits_json: JSON.stringify([...limits.values()]) })];
}

/** Ends with a statement that tells when the tasks were created. One task goes in plain parameters, which cost less. */
function insertPlain(target: SqlTarget, tasks: readonly NewTask[]): Statement[] {
  const { columns } = tasks[0]!;
  if (tasks.length === 1) return [bind(target, "insert_task", columns)];
  return [
    bind(target, "insert_tasks", { groups_json: groupsJson(tasks) }),
    bind(target, "select_created", { id: columns.id }),
  ];
}

/** What neighbours that differ in id and payload only have in common. */
const SHARED = [
  "name",
  "queue",
  "max_attempts",
  "max_crashes",
  "priority",
  "metadata",
  "run_at_ms",
  "delay_ms",
  "parent_id",
  "root_id",
  "correlation_id",
  "concurrency_key",
] as const;

/** Shared columns as the beginning of a JSON object. Metadata is JSON already. */
function headJson({ columns }: NewTask): string {
  const fields = SHARED.map(
    (field) => `"${field}":${field === "metadata" ? columns.metadata : JSON.stringify(columns[field])}`,
  );
  return `{${fields.join()}`;
}

/**
 * Neighbours that share their columns make one group, which travels and is read once. A payload that is no object travels as
 * the only element of an array: SQLite gives the text of both without reading all that stands before them.
 */
function groupsJson(tasks: readonly NewTask[]): string {
  let json = "";
  let last: NewTask["columns"] | undefined;
  for (const task of tasks) {
    const { columns } = task;
    const isNext = last !== undefined && SHARED.every((field) => columns[field] === last![field]);
    const head = isNext ? "," : `${last === undefined ? "[" : "}},"}${headJson(task)},"tasks":{`;
    const { id, payload } = columns;
    json += `${head}"${id}":${payload.startsWith("{") ? payload : `[${payload}]`}`;
    last = columns;
  }
  return `${json}}}]`;
}

/** Only one statement carries the payloads; the others get by with what decides about a key. */
function insertKeyed(target: SqlTarget, tasks: readonly NewTask[]): Statement[] {
  const keys = tasks.map(({ columns: { id, name }, key, conflict, throttleMs, isOwnName }) => {
    const own_name = isOwnName ? name : undefined;
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

/** What a submit is told whose key kept its task. */
const OUTCOMES: { readonly [conflict: string]: SubmitOutcome } = {
  reject: "rejected",
  debounce: "debounced",
};

function decodeSubmitted(
  tasks: readonly NewTask[],
  plainTask: (task: NewTask) => SubmittedTask,
  keyedRows: readonly Row[],
): SubmittedTask[] {
  const byKey = new Map(keyedRows.map((row) => [row.task_key, row]));
  return tasks.map((task) => {
    // A key without a row: another submit took it and lost it again between a lost try and its resend.
    const current = task.key === null ? undefined : byKey.get(task.key);
    if (current === undefined) return plainTask(task);
    if (current.id === task.columns.id) return withOutcome(current, "created");
    if (task.isOwnName && current.name !== task.columns.name) return withOutcome(current, "rejected");
    return withOutcome(current, OUTCOMES[task.conflict] ?? "reused");
  });
}

function withOutcome(row: Row, outcome: SubmitOutcome): SubmittedTask {
  return Object.assign(decodeTask(row), { outcome });
}

/** A plain insert returns only what the caller does not know, so that no payload travels back. */
function createdTask({ columns }: NewTask, createdAtMs: number): SubmittedTask {
  const row = {
    ...columns,
    status: "queued",
    attempt: 0,
    crashes: 0,
    crash_limit: columns.max_crashes,
    run_at_ms: columns.run_at_ms ?? createdAtMs + columns.delay_ms,
    root_id: columns.root_id ?? columns.id,
    created_at_ms: createdAtMs,
    updated_at_ms: createdAtMs,
  };
  return withOutcome(row, "created");
}
