/** Errors about one task: how it ended, or why it is no longer waited for. */
import type { ErrorEnvelope, Task } from "../task.ts";
import { WadiError, type WadiErrorOptions } from "./wadi-error.ts";

/** A wait ended before the task did. The task itself continues. */
export class TaskTimeout extends WadiError {
  override readonly name = "TaskTimeout";
  /** The id that was waited for; null if the wait was by key, or for many tasks. */
  readonly id: string | null;
  /** The key that was waited for; null if the wait was by id, or for many tasks. */
  readonly key: string | null;
  /** The task as last read; null if it was never found. */
  readonly task: Task | null;
  /** For a wait for many tasks: the ids or keys of those that have not ended. */
  readonly missing: readonly string[];
  constructor(
    message: string,
    seen: { id: string | null; key: string | null; task: Task | null; missing?: readonly string[] },
    options: Pick<WadiErrorOptions, "cause"> = {},
  ) {
    super("TASK_TIMEOUT", message, { ...options, retryable: true });
    this.missing = seen.missing ?? [];
    this.id = seen.id;
    this.key = seen.key;
    this.task = seen.task;
  }
}

/**
 * The awaited task failed for good. `retryable` is that of the stored error: if true, another call may succeed.
 */
export class TaskFailed extends WadiError {
  override readonly name = "TaskFailed";
  /** The task as it failed; its `error` says why. */
  readonly task: Task;
  /** The error as it is stored with the task. */
  readonly taskError: ErrorEnvelope;
  /** The code of the stored error, such as `handler_error` or the code of a `TaskError`. */
  readonly taskCode: string;
  /** The message of the stored error. */
  readonly taskMessage: string;
  constructor(task: Task) {
    const stored = task.error ?? NO_ERROR;
    const { code, message, retryable } = stored;
    super(
      "TASK_FAILED",
      `task ${task.id} (${task.name}) failed on attempt ${task.attempt} of ${task.maxAttempts}: ${code}: ${message}`,
      { retryable },
    );
    this.task = task;
    this.taskError = stored;
    this.taskCode = code;
    this.taskMessage = message;
  }
}

const NO_ERROR: ErrorEnvelope = {
  type: "Error",
  code: "?",
  message: "no error is stored",
  retryable: false,
  details: {},
};

/** The awaited task was canceled, or has expired: then the `error` of the task has the code `expired`. */
export class TaskCanceled extends WadiError {
  override readonly name = "TaskCanceled";
  /** The task as it was canceled. */
  readonly task: Task;
  constructor(task: Task) {
    const how = task.error?.code === "expired" ? "expired before a worker had claimed it" : "was canceled";
    super("TASK_CANCELED", `task ${task.id} (${task.name}) ${how}`);
    this.task = task;
  }
}

/** Options of a new `TaskError`. `retryable` is true by default. */
export interface TaskErrorOptions extends WadiErrorOptions {
  /** Stored in the error envelope. @default "task_error" */
  code?: string;
  /** Any JSON value, stored in the error envelope. @default none */
  details?: unknown;
  /** Least time before the next attempt, in milliseconds. @default the worker's backoff */
  delayMs?: number;
}

/**
 * Thrown by a handler to fail its task with a code and details that say more than an error does.
 *
 * @example
 * ```ts
 * import { TaskError } from "wadi";
 *
 * worker.task("charge", async ({ payload }) => {
 *   const card = payload as { expired: boolean };
 *   if (card.expired) throw new TaskError("the card has expired", { code: "card_expired", retryable: false });
 * });
 * ```
 */
export class TaskError extends WadiError {
  override readonly name = "TaskError";
  /** Recorded as `code` of the error envelope. */
  readonly taskCode: string;
  /** Recorded in the error envelope; null if there are none. */
  readonly details: unknown;
  /** Shortest wait before the next attempt, in milliseconds; undefined leaves it to the backoff of the worker. */
  readonly delayMs: number | undefined;
  /** @param options.retryable Whether the task may be tried again. @default true */
  constructor(message: string, options: TaskErrorOptions = {}) {
    super("TASK_ERROR", message, { ...options, retryable: options.retryable ?? true });
    this.taskCode = options.code ?? "task_error";
    this.details = options.details ?? null;
    this.delayMs = options.delayMs;
  }
}
