/** A task as applications see it: its fields, statuses and failures, and the policies for a key that is taken. */

/**
 * A value that JSON can hold. Lists and objects are interfaces, so that types that recurse through it, such as those of
 * an RPC, terminate.
 */
export type Json = null | boolean | number | string | JsonArray | JsonObject;
export interface JsonArray extends Array<Json> {}
export interface JsonObject {
  [key: string]: Json;
}

export type TaskStatus = "queued" | "running" | "succeeded" | "failed" | "canceled";

export const TASK_STATUSES: readonly TaskStatus[] = ["queued", "running", "succeeded", "failed", "canceled"];

/**
 * What to do when a key already has a task. A purged task leaves its key free, and so does a failed or canceled one,
 * except under `reject`.
 *
 * - `reuse`: a queued or running task is returned; after a success the work runs again.
 * - `reuse-succeeded`: a succeeded task is returned too, with its result.
 * - `reject`: any task of the key is an `AlreadyExists`.
 * - `replace`: a live task is canceled, and a new one takes the key.
 */
export type ConflictPolicy = "reuse" | "reuse-succeeded" | "reject" | "replace";

export const CONFLICT_POLICIES: readonly ConflictPolicy[] = ["reuse", "reuse-succeeded", "reject", "replace"];

/** Why a task failed, as stored in its row and read by every SDK. */
export interface ErrorEnvelope {
  /** Class name of the error, for people. */
  type: string;
  /** Stable identifier for programs, such as `handler_error` or `lease_expired`. */
  code: string;
  message: string;
  retryable: boolean;
  details: Json;
}

/** One task as the database holds it. Times are integer epoch milliseconds of the database's clock. */
export interface Task<Payload = unknown, Result = unknown> {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly status: TaskStatus;
  readonly payload: Payload;
  /** The handler's return value once `succeeded`, else null. */
  readonly result: Result | null;
  readonly error: ErrorEnvelope | null;
  readonly metadata: { readonly [key: string]: Json };
  /** From 0 to 1; null if never reported. */
  readonly progress: number | null;
  readonly message: string | null;
  /** Attempts begun so far, including the running one. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Leases that expired so far: a worker was killed, froze or ran out of memory. */
  readonly crashes: number;
  /** Null: only attempts count, as for tasks that other SDKs submitted. */
  readonly maxCrashes: number | null;
  /** Higher runs first. */
  readonly priority: number;
  /** Lease token of the claim that runs the task, or that ran it last. */
  readonly workerId: string | null;
  /** Not null exactly while `running`. */
  readonly leaseUntilMs: number | null;
  readonly runAtMs: number;
  readonly cancelRequestedAtMs: number | null;
  readonly parentId: string | null;
  /** The task's own id if it has no parent. */
  readonly rootId: string | null;
  readonly correlationId: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly completedAtMs: number | null;
}

/** One attempt of a task that failed, or whose lease expired. */
export interface TaskFailure {
  readonly attempt: number;
  /**
   * `error`: the attempt failed. `crash`: its lease expired, because its worker was killed, froze or ran out of memory.
   */
  readonly kind: "error" | "crash";
  readonly error: ErrorEnvelope;
  /** Lease token of the attempt. */
  readonly workerId: string | null;
  /** When the failure was settled or the expired lease was recovered. */
  readonly failedAtMs: number;
}

/** Whether only a retry can change the status. */
export function isTerminal(status: TaskStatus): boolean {
  return status === "succeeded" || status === "failed" || status === "canceled";
}

/** Whether the task has succeeded, and so has a result. */
export function isSucceeded<T extends { readonly status: TaskStatus }>(
  task: T,
): task is T & { readonly status: "succeeded" } {
  return task.status === "succeeded";
}

/** Whether the task failed for good; its `error` says why. */
export function isFailed<T extends { readonly status: TaskStatus }>(
  task: T,
): task is T & { readonly status: "failed" } {
  return task.status === "failed";
}

/** Whether the task was canceled. */
export function isCanceled<T extends { readonly status: TaskStatus }>(
  task: T,
): task is T & { readonly status: "canceled" } {
  return task.status === "canceled";
}
