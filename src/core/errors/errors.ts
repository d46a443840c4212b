import type { ErrorClass } from "../executor.ts";
import type { ErrorEnvelope, Task } from "../task.ts";
import { blockedMessage, type EventLoopBlockedDetails, wasKeptFromComputing } from "./event-loop-blocked.ts";
import { WadiError, type WadiErrorOptions } from "./wadi-error.ts";

export {
  type ErrorCode,
  InvalidArgument,
  Unsupported,
  WadiError,
  type WadiErrorOptions,
} from "./wadi-error.ts";

/** A value cannot be held by JSON, or by the JSON type of this database. Thrown before any I/O. */
export class SerializationError extends WadiError {
  override readonly name = "SerializationError";
  constructor(message: string, options?: WadiErrorOptions) {
    super("SERIALIZATION_ERROR", message, options);
  }
}

/** The key already has a task: of any name under the conflict policy `reject`, else of another name than this submit's. */
export class AlreadyExists extends WadiError {
  override readonly name = "AlreadyExists";
  readonly key: string;
  readonly taskId: string;
  /** Name of the task that has the key, null if it was gone before its name was read. */
  readonly taskName: string | null;
  /** Name that was submitted. */
  readonly submittedName: string | null;
  constructor(
    key: string,
    taskId: string,
    names: { readonly submitted?: string | null; readonly existing?: string | null | undefined } = {},
  ) {
    const { submitted = null, existing = null } = names;
    super(
      "ALREADY_EXISTS",
      existing === submitted
        ? `key "${key}" already has task ${taskId}${existing === null ? "" : ` (${existing})`}; use another key, or conflict "reuse" or "replace"`
        : `key "${key}" belongs to task ${taskId} ${existing === null ? "of another name" : `("${existing}")`}, not to "${submitted}"; give each name its own keys, such as "${submitted}:${key}", or share keys between names with new Wadi(executor, { keysAcrossNames: true })`,
    );
    this.key = key;
    this.taskId = taskId;
    this.taskName = existing;
    this.submittedName = submitted;
  }
}

/** A queue has as many queued tasks as this producer lets it have; nothing of the submit was queued. */
export class QueueFull extends WadiError {
  override readonly name = "QueueFull";
  readonly queue: string;
  /** The `maxQueueDepth` of the queue. */
  readonly maxDepth: number;
  /** How long the submit waited for room, in milliseconds. */
  readonly waitedMs: number;
  constructor(queue: string, maxDepth: number, waitedMs = 0) {
    super(
      "QUEUE_FULL",
      `the queue "${queue}" has no room below its maxQueueDepth of ${maxDepth} after a wait of ${Math.round(waitedMs)} ms; try again later, add workers, or raise maxQueueWaitMs`,
      { retryable: true },
    );
    this.queue = queue;
    this.maxDepth = maxDepth;
    this.waitedMs = waitedMs;
  }
}

/** A handler's context sent nothing, because its drain keeps the queries it has left to settle what it holds. */
export class QueryLimit extends WadiError {
  override readonly name = "QueryLimit";
  constructor(maxQueries: number) {
    super(
      "QUERY_LIMIT",
      `the drain keeps what is left of its maxQueries of ${maxQueries} to settle what it holds, and nothing was sent; let this error through, and the task is tried again; raise maxQueries where the platform allows it`,
      { retryable: true },
    );
  }
}

/** This worker no longer owns the task: its lease expired, the attempt had ended, or the task was settled or claimed elsewhere. */
export class LostLease extends WadiError {
  override readonly name = "LostLease";
  readonly taskId: string;
  constructor(taskId: string) {
    super(
      "LOST_LEASE",
      `the lease on task ${taskId} is lost: it expired, another worker took the task, or the attempt had ended; if its handler was still at work raise leaseMs or send heartbeats`,
    );
    this.taskId = taskId;
  }
}

/** A wait ended before the task did. The task itself goes on. */
export class TaskTimeout extends WadiError {
  override readonly name = "TaskTimeout";
  readonly id: string | null;
  readonly key: string | null;
  /** The task as last seen, null if none was seen. */
  readonly task: Task | null;
  /** Of a wait for many: the ids or keys of those that are not done. */
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

/** The awaited task failed for good. `retryable` is that of the stored error: another call may succeed where it is true. */
export class TaskFailed extends WadiError {
  override readonly name = "TaskFailed";
  readonly task: Task;
  /** The error as it is stored with the task. */
  readonly taskError: ErrorEnvelope;
  /** The code of the stored error, such as `handler_error`, or that of the handler's `TaskError`. */
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

/** The awaited task was canceled. */
export class TaskCanceled extends WadiError {
  override readonly name = "TaskCanceled";
  readonly task: Task;
  constructor(task: Task) {
    super("TASK_CANCELED", `task ${task.id} (${task.name}) was canceled`);
    this.task = task;
  }
}

export interface TaskErrorOptions extends WadiErrorOptions {
  /** Recorded in the error envelope. @default "task_error" */
  code?: string;
  /** Any JSON value, recorded in the error envelope. */
  details?: unknown;
  /** Least time before the next attempt, in milliseconds. @default the worker's backoff */
  delayMs?: number;
}

/** Thrown by a handler to fail its task with a code and details of its own. */
export class TaskError extends WadiError {
  override readonly name = "TaskError";
  readonly taskCode: string;
  readonly details: unknown;
  readonly delayMs: number | undefined;
  /** @param options.retryable Whether the task may be tried again. @default true */
  constructor(message: string, options: TaskErrorOptions = {}) {
    super("TASK_ERROR", message, { ...options, retryable: options.retryable ?? true });
    this.taskCode = options.code ?? "task_error";
    this.details = options.details ?? null;
    this.delayMs = options.delayMs;
  }
}

/** Reported to `onError` of a worker: its leases could not be renewed while something held the event loop. */
export class EventLoopBlocked extends WadiError {
  override readonly name = "EventLoopBlocked";
  readonly blockedMs: number;
  readonly leaseMs: number;
  /** Names of the tasks whose handlers were running when it began, with repeats. */
  readonly running: readonly string[];
  readonly tasks: NonNullable<EventLoopBlockedDetails["tasks"]>;
  readonly leaseLeftMs: number | null;
  readonly cpuMs: number | null;
  /**
   * Whether the process was not computing for most of it: the machine has too much to do or suspended the process, or
   * a handler waits in a synchronous call. Null where the platform does not say.
   */
  readonly isOversubscribed: boolean | null;
  constructor(
    blockedMs: number,
    leaseMs: number,
    running: readonly string[],
    details: EventLoopBlockedDetails = {},
  ) {
    super("EVENT_LOOP_BLOCKED", blockedMessage(blockedMs, leaseMs, running, details));
    this.blockedMs = blockedMs;
    this.leaseMs = leaseMs;
    this.running = running;
    this.tasks = details.tasks ?? [];
    this.leaseLeftMs = details.leaseLeftMs ?? null;
    this.cpuMs = details.cpuMs ?? null;
    this.isOversubscribed = wasKeptFromComputing(blockedMs, this.cpuMs);
  }
}

/** The database speaks a protocol version this SDK does not know. */
export class ProtocolVersionMismatch extends WadiError {
  override readonly name = "ProtocolVersionMismatch";
  constructor(found: string) {
    super(
      "PROTOCOL_VERSION_MISMATCH",
      `the database speaks CairnQ protocol version ${found}, this SDK speaks version 1; upgrade wadi`,
    );
  }
}

/** Migrations would create the tables while another schema of the same database has them. Nothing is written. */
export class SchemaMismatch extends WadiError {
  override readonly name = "SchemaMismatch";
  /** The schemas that have them. */
  readonly schemas: readonly string[];
  constructor(schemas: readonly string[], schema: string | undefined) {
    const names = schemas.map((name) => JSON.stringify(name)).join(", ");
    const here =
      schema === undefined ? "where the search path points" : `in schema ${JSON.stringify(schema)}`;
    super(
      "SCHEMA_MISMATCH",
      `the tables are in schema ${names} of this database and not ${here}; pass that schema to the driver, or call migrate({ secondInstallation: true }) once for a second set of tables`,
    );
    this.schemas = schemas;
  }
}

export interface DriverErrorOptions extends WadiErrorOptions {
  kind?: ErrorClass;
  taskId?: string;
}

/** The database refused a statement or stayed out of reach. The driver's own error is the `cause`. */
export class DriverError extends WadiError {
  override readonly name = "DriverError";
  /** What the error of the database means, see `ErrorClass`. */
  readonly kind: ErrorClass;
  /** Of a `call`: the id of its task, which may have been queued; null of anything else. */
  readonly taskId: string | null;
  constructor(message: string, options: DriverErrorOptions) {
    super("DRIVER_ERROR", message, options);
    this.kind = options.kind ?? "unknown";
    this.taskId = options.taskId ?? null;
  }
}

/** Whether the database refused a value and wrote nothing; without that value the same may go through. */
export function refusesValue(error: unknown): boolean {
  return isRefusal(error) && (error as DriverError).kind === "invalid-value";
}

/** Whether the database said no and wrote nothing, so that it is no use to send the same again. */
export function isRefusal(error: unknown): boolean {
  if (!WadiError.is(error) || error.code !== "DRIVER_ERROR" || error.retryable) return false;
  return (error as DriverError).kind !== "response-too-large"; // which may have been committed
}
