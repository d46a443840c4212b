import { decodeTask } from "../codec.ts";
import type { Row, Statement } from "../executor.ts";
import type { StatementName } from "../generated/protocol.ts";
import { decodeJson } from "../json.ts";
import type { Operation, Target } from "../operation.ts";
import { bind } from "../statement.ts";
import type { ConflictPolicy, Json, Task } from "../task.ts";

/** A task that has been checked and serialised and is ready to be sent. */
export interface NewTask {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly payloadJson: string;
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

export interface Submitted {
  readonly outcome: SubmitOutcome;
  readonly task: Task;
}

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

/** Payload and metadata are spliced in as they are, so that they are serialised once. */
export function newTaskJson(task: NewTask): string {
  const { payloadJson, metadataJson, key } = task;
  const columns = JSON.stringify({
    id: task.id,
    name: task.name,
    queue: task.queue,
    max_attempts: task.maxAttempts,
    priority: task.priority,
    delay_ms: task.delayMs,
    run_at_ms: task.runAtMs ?? undefined,
    parent_id: task.parentId ?? undefined,
    root_id: task.rootId ?? undefined,
    correlation_id: task.correlationId ?? undefined,
    key: key ?? undefined,
    conflict: key === null ? undefined : task.conflict,
  });
  return `${columns.slice(0, -1)},"payload":${payloadJson},"metadata":${metadataJson}}`;
}

/** Queues tasks in one round trip. Keys must differ from each other within one operation. */
export function submit(target: Target, tasks: readonly NewTask[]): Operation<Submitted[]> {
  const plain = tasks.filter((task) => task.key === null);
  const keyed = tasks.filter((task) => task.key !== null);
  const statements: Statement[] = [];
  if (plain.length > 0) {
    statements.push(
      bind(target.dialect, "insert_tasks", { tasks_json: listJson(plain), now_ms: target.nowMs }),
    );
  }
  if (keyed.length > 0) {
    const values = { tasks_json: listJson(keyed), now_ms: target.nowMs };
    for (const name of KEYED_STATEMENTS[target.dialect]) statements.push(bind(target.dialect, name, values));
  }
  return {
    name: "submit",
    statements,
    decode: (results) =>
      decodeSubmitted(tasks, plain.length > 0 ? results[0]! : [], keyed.length > 0 ? results.at(-1)! : []),
    resend: () => resubmit(target, tasks, plain, statements),
  };
}

/** The plain tasks of a lost first try are there already, and their insert returns nothing: read them. */
function resubmit(
  target: Target,
  tasks: readonly NewTask[],
  plain: readonly NewTask[],
  statements: readonly Statement[],
): Operation<Submitted[]> {
  if (plain.length === 0) return submitAgain(tasks, statements, false);
  const read = bind(target.dialect, "select_tasks", {
    ids_json: JSON.stringify(plain.map((task) => task.id)),
  });
  return submitAgain(tasks, [statements[0]!, read, ...statements.slice(1)], true);
}

function submitAgain(
  tasks: readonly NewTask[],
  statements: readonly Statement[],
  plain: boolean,
): Operation<Submitted[]> {
  return {
    name: "submit",
    statements,
    decode: (results) =>
      decodeSubmitted(tasks, plain ? results[1]! : [], results.length > 2 || !plain ? results.at(-1)! : []),
  };
}

function listJson(tasks: readonly NewTask[]): string {
  return `[${tasks.map(newTaskJson).join(",")}]`;
}

function decodeSubmitted(
  tasks: readonly NewTask[],
  plainRows: readonly Row[],
  keyedRows: readonly Row[],
): Submitted[] {
  const times = new Map(plainRows.map((row) => [row.id, row]));
  const byKey = new Map(keyedRows.map((row) => [row.task_key, row]));
  return tasks.map((task) => {
    if (task.key === null) return { outcome: "created", task: createdTask(task, times.get(task.id)) };
    const current = byKey.get(task.key);
    // Another submit took the key and lost it again between our insert and a resend.
    if (current === undefined) return { outcome: "created", task: createdTask(task, undefined) };
    if (current.id === task.id) return { outcome: "created", task: decodeTask(current) };
    return { outcome: task.conflict === "reject" ? "rejected" : "reused", task: decodeTask(current) };
  });
}

/** A plain insert returns only what the caller does not know, so that no payload travels back. */
function createdTask(task: NewTask, row: Row | undefined): Task {
  const createdAtMs = Number(row?.created_at_ms ?? task.runAtMs ?? 0);
  return {
    id: task.id,
    name: task.name,
    queue: task.queue,
    status: "queued",
    payload: decodeJson(task.payloadJson),
    result: null,
    error: null,
    metadata: decodeJson(task.metadataJson) as { [key: string]: Json },
    progress: null,
    message: null,
    attempt: 0,
    maxAttempts: task.maxAttempts,
    priority: task.priority,
    workerId: null,
    leaseUntilMs: null,
    runAtMs: Number(row?.run_at_ms ?? task.runAtMs ?? createdAtMs),
    cancelRequestedAtMs: null,
    parentId: task.parentId,
    rootId: task.rootId ?? task.id,
    correlationId: task.correlationId,
    createdAtMs,
    updatedAtMs: createdAtMs,
    completedAtMs: null,
  };
}
