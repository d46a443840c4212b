/** A task as applications see it: its fields, statuses and failures, and the policies for a key that is taken. */

/**
 * A value that JSON can hold. Lists and objects are interfaces, so that types that recurse through it, such as those of
 * an RPC, terminate.
 */
export type Json = null | boolean | number | string | JsonArray | JsonObject;
/** A list that JSON can hold. */
export interface JsonArray extends Array<Json> {}
/** An object that JSON can hold. */
export interface JsonObject {
  [key: string]: Json;
}

/** Where a task stands. `succeeded`, `failed` and `canceled` are terminal: only `retry` changes them. */
export type TaskStatus = "queued" | "running" | "succeeded" | "failed" | "canceled";

export const TASK_STATUSES: readonly TaskStatus[] = ["queued", "running", "succeeded", "failed", "canceled"];

/** The statuses in which a task has ended. */
export const TERMINAL_STATUSES = ["succeeded", "failed", "canceled"] as const satisfies readonly TaskStatus[];

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
  /** Message for people. */
  message: string;
  /** Whether another attempt was, or would have been, made while attempts are left. */
  retryable: boolean;
  /** Any JSON value that says more, such as the stack and the causes; `{}` if there are none. */
  details: Json;
}

/** One task as the database holds it. Times are integer epoch milliseconds of the database's clock. */
export interface Task<Payload = unknown, Result = unknown> {
  /** Unique; a ULID if Wadi made it. */
  readonly id: string;
  /** Names the handler. */
  readonly name: string;
  /** Where workers claim it. */
  readonly queue: string;
  /** Where it stands. */
  readonly status: TaskStatus;
  /** The submitted payload, in its JSON form. */
  readonly payload: Payload;
  /** The handler's return value once `succeeded`, else null. */
  readonly result: Result | null;
  /** Why it failed, or why its last attempt did; null if none has. */
  readonly error: ErrorEnvelope | null;
  /** JSON values that are stored with the task and are no part of its payload. */
  readonly metadata: { readonly [key: string]: Json };
  /** From 0 to 1; null if never reported. */
  readonly progress: number | null;
  /** The last message that its handler reported with the progress; null if there was none. */
  readonly message: string | null;
  /** Attempts begun so far, including the running one. */
  readonly attempt: number;
  /** Attempts before a retryable failure is final, including the first. */
  readonly maxAttempts: number;
  /** Leases that expired so far: a worker was killed, froze or exhausted its memory. */
  readonly crashes: number;
  /** Null: only attempts count, as for tasks that other SDKs submitted. */
  readonly maxCrashes: number | null;
  /** Higher runs first. */
  readonly priority: number;
  /** Lease token of the claim that runs the task, or that ran it last. */
  readonly workerId: string | null;
  /** When the lease expires, after which another worker recovers the task; null unless `running`. */
  readonly leaseUntilMs: number | null;
  /** When it is, or was, due. */
  readonly runAtMs: number;
  /** From when on it ends as `canceled` if no worker has claimed it; null: it waits for as long as it takes. */
  readonly expiresAtMs: number | null;
  /** When a cancel was requested while it ran; null if none was. */
  readonly cancelRequestedAtMs: number | null;
  /** The id of the task it belongs to; null if it has no parent. */
  readonly parentId: string | null;
  /** The task's own id if it has no parent. */
  readonly rootId: string | null;
  /** Shared by tasks that belong together; null if the task has none. */
  readonly correlationId: string | null;
  /** When it was submitted. */
  readonly createdAtMs: number;
  /** When its row was last written. */
  readonly updatedAtMs: number;
  /** When it became terminal; null until then. */
  readonly completedAtMs: number | null;
}

/** One attempt of a task that failed, or whose lease expired. */
export interface TaskFailure {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /**
   * `error`: the attempt failed. `crash`: its lease expired, because its worker was killed, froze or exhausted its
   * memory.
   */
  readonly kind: "error" | "crash";
  /** Why it failed. */
  readonly error: ErrorEnvelope;
  /** Lease token of the attempt. */
  readonly workerId: string | null;
  /** When the failure was settled or the expired lease was recovered. */
  readonly failedAtMs: number;
}

/**
 * Whether a task with this status has ended; only a retry changes it.
 *
 * @example
 * ```ts
 * import { isTerminal } from "wadi";
 *
 * const state = await wadi.getStatus("01JD2F7ZK3V7M2T6B8QW9X4C5E");
 * const hasEnded = state !== null && isTerminal(state.status);
 * ```
 */
export function isTerminal(status: TaskStatus): boolean {
  return status === "succeeded" || status === "failed" || status === "canceled";
}

/**
 * Whether the task has succeeded, and so has a result.
 *
 * @example
 * ```ts
 * import { isSucceeded } from "wadi";
 *
 * const task = await wadi.waitByKey("invoice:7");
 * if (isSucceeded(task)) console.log(task.result);
 * ```
 */
export function isSucceeded<T extends { readonly status: TaskStatus }>(
  task: T,
): task is T & { readonly status: "succeeded" } {
  return task.status === "succeeded";
}

/**
 * Whether the task failed for good; its `error` says why.
 *
 * @example
 * ```ts
 * import { isFailed } from "wadi";
 *
 * const task = await wadi.waitByKey("invoice:7");
 * if (isFailed(task)) console.error(task.error?.message);
 * ```
 */
export function isFailed<T extends { readonly status: TaskStatus }>(
  task: T,
): task is T & { readonly status: "failed" } {
  return task.status === "failed";
}

/**
 * Whether the task was canceled.
 *
 * @example
 * ```ts
 * import { isCanceled } from "wadi";
 *
 * const task = await wadi.waitByKey("invoice:7");
 * if (isCanceled(task)) console.log("it was canceled");
 * ```
 */
export function isCanceled<T extends { readonly status: TaskStatus }>(
  task: T,
): task is T & { readonly status: "canceled" } {
  return task.status === "canceled";
}
