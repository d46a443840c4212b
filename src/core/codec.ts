import type { Row, Value } from "./executor.ts";
import { decodeJson } from "./json.ts";
import type { ErrorEnvelope, Json, Task, TaskStatus } from "./task.ts";

function textOrNull(value: Value | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** 64-bit integers arrive as digits from Postgres. */
export function numberOrNull(value: Value | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}

function jsonOrNull(value: Value | undefined): Json {
  return value === null || value === undefined ? null : decodeJson(String(value));
}

/** Reads a row of `cairnq_tasks`. Columns this SDK does not know are ignored. */
export function decodeTask(row: Row): Task {
  return {
    id: String(row.id),
    name: String(row.name),
    queue: String(row.queue),
    status: String(row.status) as TaskStatus,
    payload: jsonOrNull(row.payload),
    result: jsonOrNull(row.result),
    error: jsonOrNull(row.error) as unknown as ErrorEnvelope | null,
    metadata: jsonOrNull(row.metadata) as { [key: string]: Json },
    progress: numberOrNull(row.progress),
    message: textOrNull(row.message),
    attempt: Number(row.attempt),
    maxAttempts: Number(row.max_attempts),
    priority: Number(row.priority),
    workerId: textOrNull(row.worker_id),
    leaseUntilMs: numberOrNull(row.lease_until_ms),
    runAtMs: Number(row.run_at_ms),
    cancelRequestedAtMs: numberOrNull(row.cancel_requested_at_ms),
    parentId: textOrNull(row.parent_id),
    rootId: textOrNull(row.root_id),
    correlationId: textOrNull(row.correlation_id),
    createdAtMs: Number(row.created_at_ms),
    updatedAtMs: Number(row.updated_at_ms),
    completedAtMs: numberOrNull(row.completed_at_ms),
  };
}

/** The order of a claim. RETURNING promises none. */
export function byClaimOrder(a: Task, b: Task): number {
  return b.priority - a.priority || a.runAtMs - b.runAtMs || (a.id < b.id ? -1 : 1);
}
