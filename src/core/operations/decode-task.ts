/** Reads tasks and failures from the rows of the database. */

import type { Row, Value } from "../executor.ts";
import { isRecord } from "../json/is-record.ts";
import { decodeJson } from "../json/json.ts";
import type { ErrorEnvelope, Json, Task, TaskFailure, TaskStatus } from "../task.ts";

/** 64-bit integers arrive as digits from Postgres. */
export function numberOrNull(value: Value | undefined): number | null {
  return value === null || value === undefined ? null : decodeNumber(value);
}

/** Other SDKs may leave anything in a column of SQLite; a task must still be readable. */
function decodeNumber(value: Value | undefined): number {
  const number = Number(value);
  return Number.isNaN(number) ? 0 : number;
}

/** Text that the database accepts as JSON and JavaScript does not is returned unparsed. */
function jsonOrNull(value: Value | undefined): Json {
  if (value === null || value === undefined) return null;
  try {
    return decodeJson(String(value));
  } catch {
    return String(value);
  }
}

function decodeMetadata(value: Value | undefined): { [key: string]: Json } {
  const metadata = jsonOrNull(value);
  return isRecord(metadata) ? metadata : {};
}

/**
 * Reads a row of `cairnq_tasks`. Columns that this SDK does not know are ignored. A row with `expired_error` is that of
 * a task that has expired, and that no worker has ended yet: it reads as it will once it is ended.
 */
export function decodeTask(stored: Row): Task {
  const { expired_error: error, expires_at_ms } = stored;
  const row: Row =
    error === null || error === undefined
      ? stored
      : { ...stored, status: "canceled", error, completed_at_ms: expires_at_ms ?? null };
  const text = row as Record<string, string>;
  const textOrNull = row as Record<string, string | null>;
  return {
    id: text.id!,
    name: text.name!,
    queue: text.queue!,
    status: text.status as TaskStatus,
    payload: jsonOrNull(row.payload),
    result: jsonOrNull(row.result),
    // Other SDKs leave the error of an earlier attempt in the row of a task that succeeds.
    error: text.status === "succeeded" ? null : (jsonOrNull(row.error) as unknown as ErrorEnvelope | null),
    metadata: decodeMetadata(row.metadata),
    progress: numberOrNull(row.progress),
    message: textOrNull.message ?? null,
    attempt: decodeNumber(row.attempt),
    maxAttempts: decodeNumber(row.max_attempts),
    crashes: decodeNumber(row.crashes),
    maxCrashes: numberOrNull(row.crash_limit),
    priority: decodeNumber(row.priority),
    workerId: textOrNull.worker_id ?? null,
    leaseUntilMs: numberOrNull(row.lease_until_ms),
    runAtMs: decodeNumber(row.run_at_ms),
    expiresAtMs: numberOrNull(row.expires_at_ms),
    cancelRequestedAtMs: numberOrNull(row.cancel_requested_at_ms),
    parentId: textOrNull.parent_id ?? null,
    rootId: textOrNull.root_id ?? null,
    correlationId: textOrNull.correlation_id ?? null,
    createdAtMs: decodeNumber(row.created_at_ms),
    updatedAtMs: decodeNumber(row.updated_at_ms),
    completedAtMs: numberOrNull(row.completed_at_ms),
  };
}

/** Reads a row of `wadi_failures`. */
export function decodeFailure(row: Row): TaskFailure {
  return {
    attempt: decodeNumber(row.attempt),
    kind: row.kind as TaskFailure["kind"],
    error: jsonOrNull(row.error) as unknown as ErrorEnvelope,
    workerId: row.worker_id as string | null,
    failedAtMs: decodeNumber(row.failed_at_ms),
  };
}
