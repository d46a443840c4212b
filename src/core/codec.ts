import type { Row, Value } from "./executor.ts";
import { decodeJson } from "./json.ts";
import type { ErrorEnvelope, Json, Task, TaskFailure, TaskStatus } from "./task.ts";

/** 64-bit integers arrive as digits from Postgres. */
export function numberOrNull(value: Value | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}

function jsonOrNull(value: Value | undefined): Json {
  return value === null || value === undefined ? null : decodeJson(String(value));
}

/** Reads a row of `cairnq_tasks`. Columns this SDK does not know are ignored. */
export function decodeTask(row: Row): Task {
  const text = row as Record<string, string>;
  const textOrNull = row as Record<string, string | null>;
  return {
    id: text.id!,
    name: text.name!,
    queue: text.queue!,
    status: text.status as TaskStatus,
    payload: jsonOrNull(row.payload),
    result: jsonOrNull(row.result),
    error: jsonOrNull(row.error) as unknown as ErrorEnvelope | null,
    metadata: jsonOrNull(row.metadata) as { [key: string]: Json },
    progress: numberOrNull(row.progress),
    message: textOrNull.message ?? null,
    attempt: Number(row.attempt),
    maxAttempts: Number(row.max_attempts),
    crashes: Number(row.crashes),
    maxCrashes: Number(row.max_crashes),
    priority: Number(row.priority),
    workerId: textOrNull.worker_id ?? null,
    leaseUntilMs: numberOrNull(row.lease_until_ms),
    runAtMs: Number(row.run_at_ms),
    cancelRequestedAtMs: numberOrNull(row.cancel_requested_at_ms),
    parentId: textOrNull.parent_id ?? null,
    rootId: textOrNull.root_id ?? null,
    correlationId: textOrNull.correlation_id ?? null,
    createdAtMs: Number(row.created_at_ms),
    updatedAtMs: Number(row.updated_at_ms),
    completedAtMs: numberOrNull(row.completed_at_ms),
  };
}

/** Reads a row of `wadi_failures`. */
export function decodeFailure(row: Row): TaskFailure {
  return {
    attempt: Number(row.attempt),
    kind: row.kind as TaskFailure["kind"],
    error: jsonOrNull(row.error) as unknown as ErrorEnvelope,
    workerId: row.worker_id as string | null,
    failedAtMs: Number(row.failed_at_ms),
  };
}

/** The order of a claim. */
export function byClaimOrder(a: Task, b: Task): number {
  return b.priority - a.priority || a.runAtMs - b.runAtMs || (a.id < b.id ? -1 : 1);
}
