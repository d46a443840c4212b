import { decodeTask } from "../codec.ts";
import type { Row, Statement } from "../executor.ts";
import type { StatementName } from "../generated/statements.ts";
import type { Operation, Target } from "../operation.ts";
import { bind } from "../statement.ts";
import type { ConflictPolicy, Json, Task } from "../task.ts";

/** A task that has been checked and serialised and is ready to be sent. */
export interface NewTask {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly payload: unknown;
  readonly payloadJson: string;
  readonly metadata: { readonly [key: string]: Json };
  readonly metadataJson: string;
  readonly maxAttempts: number;
  readonly priority: number;
  readonly delayMs: number;
  /** Absolute due time; wins over `delayMs`. */
  readonly runAtMs: number | null;
  readonly parentId: string | null;
  readonly rootId: string | null;
  readonly correlationId: string | null;
  readonly key: string | null;
  readonly conflict: ConflictPolicy;
}

/** What became of a submit: a new task, the task the key had, or a refusal under the policy `reject`. */
export type SubmitOutcome = "created" | "reused" | "rejected";

/** The task a submit ended with: a new one, the one the key had, or the one that forbids the key. */
export type SubmittedTask<Payload = unknown, Result = unknown> = Task<Payload, Result> & {
  readonly outcome: SubmitOutcome;
};

const KEYED_STATEMENTS: Record<Target["dialect"], readonly StatementName[]> = {
  sqlite: [
    "cancel_replaced_tasks",
    "free_task_keys",
    "insert_keyed_tasks",
    "insert_task_keys",
    "select_keyed_tasks",
  ],
  postgres: ["lock_task_keys", "submit_keyed_tasks"],
};

/** Queues tasks in one round trip. Keys must differ from each other within one operation. */
export function submit(target: Target, tasks: readonly NewTask[]): Operation<SubmittedTask[]> {
  const plain = tasks.filter((task) => task.key === null);
  const keyed = tasks.filter((task) => task.key !== null);
  const insert = plain.length === 0 ? [] : insertPlain(target, plain);
  const submitKeyed = keyed.length === 0 ? [] : insertKeyed(target, keyed);
  const keyedRows = (results: readonly Row[][]) => (keyed.length === 0 ? [] : results.at(-1)!);
  return {
    name: "submit",
    statements: [...insert, ...submitKeyed],
    decode: (results) => {
      // One statement, one clock: all plain tasks have the same time.
      const createdAtMs = plain.length === 0 ? 0 : Number(results[insert.length - 1]![0]!.created_at_ms);
      return decodeSubmitted(tasks, (task) => createdTask(task, createdAtMs), keyedRows(results));
    },
    // The plain tasks of a lost first try are there already, perhaps claimed by now: read them.
    resend: () => {
      const read = plain.length === 0 ? [] : [selectTasks(target, plain)];
      return {
        name: "submit",
        statements: [...insert, ...read, ...submitKeyed],
        decode: (results) => {
          const rows = read.length === 0 ? [] : results[insert.length]!;
          const stored = new Map(rows.map((row) => [row.id, withOutcome(row, "created")]));
          const plainTask = (task: NewTask) => stored.get(task.id) ?? createdTask(task, Date.now());
          return decodeSubmitted(tasks, plainTask, keyedRows(results));
        },
      };
    },
  };
}

function selectTasks(target: Target, tasks: readonly NewTask[]): Statement {
  return bind(target, "select_tasks", { ids_json: JSON.stringify(tasks.map((task) => task.id)) });
}

/** Ends with a statement that tells when the tasks were created. One task goes in plain parameters, which cost less. */
function insertPlain(target: Target, tasks: readonly NewTask[]): Statement[] {
  const task = tasks[0]!;
  if (tasks.length > 1) {
    return [
      bind(target, "insert_tasks", { groups_json: groupsJson(tasks), now_ms: target.nowMs }),
      bind(target, "select_created", { id: task.id }),
    ];
  }
  return [
    bind(target, "insert_task", {
      id: task.id,
      name: task.name,
      queue: task.queue,
      payload: task.payloadJson,
      metadata: task.metadataJson,
      max_attempts: task.maxAttempts,
      priority: task.priority,
      run_at_ms: task.runAtMs,
      delay_ms: task.delayMs,
      parent_id: task.parentId,
      root_id: task.rootId ?? task.id,
      correlation_id: task.correlationId,
      now_ms: target.nowMs,
    }),
  ];
}

const SHARED = [
  "name",
  "queue",
  "maxAttempts",
  "priority",
  "metadataJson",
  "runAtMs",
  "delayMs",
  "parentId",
  "rootId",
  "correlationId",
] as const;

/** Neighbours that differ in id and payload only make one group, so that the rest travels and is read once. */
function groupsJson(tasks: readonly NewTask[]): string {
  let json = "";
  let last: NewTask | undefined;
  for (const task of tasks) {
    if (last === undefined || SHARED.some((field) => task[field] !== last![field])) {
      json += `${last === undefined ? "[" : "}},"}${headJson(task)},"tasks":{"${task.id}":${task.payloadJson}`;
    } else {
      json += `,"${task.id}":${task.payloadJson}`;
    }
    last = task;
  }
  return `${json}}}]`;
}

/** What tasks have in common, as the beginning of a JSON object. Text that is JSON already goes in as it is. */
function headJson(task: NewTask): string {
  let json = `{"name":${JSON.stringify(task.name)},"queue":${JSON.stringify(task.queue)},"max_attempts":${task.maxAttempts},"priority":${task.priority},"metadata":${task.metadataJson}`;
  json += task.runAtMs === null ? `,"delay_ms":${task.delayMs}` : `,"run_at_ms":${task.runAtMs}`;
  if (task.parentId !== null) json += `,"parent_id":${JSON.stringify(task.parentId)}`;
  if (task.rootId !== null) json += `,"root_id":${JSON.stringify(task.rootId)}`;
  if (task.correlationId !== null) json += `,"correlation_id":${JSON.stringify(task.correlationId)}`;
  return json;
}

function insertKeyed(target: Target, tasks: readonly NewTask[]): Statement[] {
  const items = tasks.map(
    (task) =>
      `${headJson(task)},"id":"${task.id}","key":${JSON.stringify(task.key)},"conflict":"${task.conflict}","payload":${task.payloadJson}}`,
  );
  const values = { tasks_json: `[${items.join(",")}]`, now_ms: target.nowMs };
  return KEYED_STATEMENTS[target.dialect].map((name) => bind(target, name, values));
}

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
    if (current.id === task.id) return withOutcome(current, "created");
    return withOutcome(current, task.conflict === "reject" ? "rejected" : "reused");
  });
}

function withOutcome(row: Row, outcome: SubmitOutcome): SubmittedTask {
  return { ...decodeTask(row), outcome };
}

/** A plain insert returns only what the caller does not know, so that no payload travels back. */
function createdTask(task: NewTask, createdAtMs: number): SubmittedTask {
  return {
    id: task.id,
    name: task.name,
    queue: task.queue,
    status: "queued",
    payload: task.payload,
    result: null,
    error: null,
    metadata: task.metadata,
    progress: null,
    message: null,
    attempt: 0,
    maxAttempts: task.maxAttempts,
    priority: task.priority,
    workerId: null,
    leaseUntilMs: null,
    runAtMs: task.runAtMs ?? createdAtMs + task.delayMs,
    cancelRequestedAtMs: null,
    parentId: task.parentId,
    rootId: task.rootId ?? task.id,
    correlationId: task.correlationId,
    createdAtMs,
    updatedAtMs: createdAtMs,
    completedAtMs: null,
    outcome: "created",
  };
}
