/** Errors of a submit that was refused: nothing was queued. */
import { WadiError, type WadiErrorOptions } from "./wadi-error.ts";

/** A value cannot be held by JSON, or by the JSON type of this database. Thrown before any I/O. */
export class SerializationError extends WadiError {
  override readonly name = "SerializationError";
  constructor(message: string, options?: WadiErrorOptions) {
    super("SERIALIZATION_ERROR", message, options);
  }
}

/**
 * The key already has a task: of any name under the conflict policy `reject`, else of another name than this submit's.
 */
export class AlreadyExists extends WadiError {
  override readonly name = "AlreadyExists";
  /** The key that is taken. */
  readonly key: string;
  /** The id of the task that has the key. */
  readonly taskId: string;
  /** Name of the task that has the key; null if the task was deleted before its name was read. */
  readonly taskName: string | null;
  /** Name of the submitted task. */
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
        ? `key "${key}" already has task ${taskId}${existing === null ? "" : ` (${existing})`}; ` +
            'use another key, or conflict "reuse" or "replace"'
        : `key "${key}" belongs to task ${taskId} ${existing === null ? "of another name" : `("${existing}")`}, ` +
            `not to "${submitted}"; put the name into the key, such as "${submitted}:${key}", ` +
            "or pass keysAcrossNames: true to new Wadi",
    );
    this.key = key;
    this.taskId = taskId;
    this.taskName = existing;
    this.submittedName = submitted;
  }
}

/** The queue has reached the `maxQueueDepth` of this producer; no task of the submit was queued. */
export class QueueFull extends WadiError {
  override readonly name = "QueueFull";
  /** The queue that had no room. */
  readonly queue: string;
  /** The `maxQueueDepth` of the queue. */
  readonly maxDepth: number;
  /** How long the submit waited for room, in milliseconds. */
  readonly waitedMs: number;
  constructor(queue: string, maxDepth: number, waitedMs = 0) {
    super(
      "QUEUE_FULL",
      `the queue "${queue}" has no room below its maxQueueDepth of ${maxDepth} after a wait of ` +
        `${Math.round(waitedMs)} ms; try again later, add workers, or raise maxQueueWaitMs`,
      { retryable: true },
    );
    this.queue = queue;
    this.maxDepth = maxDepth;
    this.waitedMs = waitedMs;
  }
}
