/** Errors of a worker that may not, or cannot, go on with its tasks. */
import {
  blockedMessage,
  type EventLoopBlockedDetails,
  wasKeptFromComputing,
} from "./event-loop-blocked-message.ts";
import { WadiError } from "./wadi-error.ts";

/**
 * This worker no longer owns the task: its lease expired, the attempt had ended, or the task was settled or claimed
 * elsewhere.
 */
export class LostLease extends WadiError {
  override readonly name = "LostLease";
  /** The id of the task whose lease is lost. */
  readonly taskId: string;
  constructor(taskId: string) {
    super(
      "LOST_LEASE",
      `the lease on task ${taskId} is lost: it expired, another worker took the task, or the attempt had ended; ` +
        "if its handler was still running, raise leaseMs or send heartbeats",
    );
    this.taskId = taskId;
  }
}

/** A handler's request was not sent, because the drain reserves its remaining queries to settle the tasks it holds. */
export class QueryLimit extends WadiError {
  override readonly name = "QueryLimit";
  constructor(maxQueries: number) {
    super(
      "QUERY_LIMIT",
      `nothing was sent: the drain keeps the rest of its maxQueries of ${maxQueries} for settling; ` +
        "let this error end the attempt, which is then tried again, or raise maxQueries",
      { retryable: true },
    );
  }
}

/** Reported to `onError` of a worker: its leases could not be renewed while the event loop was blocked. */
export class EventLoopBlocked extends WadiError {
  override readonly name = "EventLoopBlocked";
  /** How long the event loop did not run, in milliseconds. */
  readonly blockedMs: number;
  /** Length of a lease of this worker, in milliseconds. */
  readonly leaseMs: number;
  /** Names of the tasks whose handlers were running when the block began, with repeats. */
  readonly running: readonly string[];
  /** The tasks whose handlers were running when it began. */
  readonly tasks: NonNullable<EventLoopBlockedDetails["tasks"]>;
  /**
   * Milliseconds left of the first lease when it ended; negative if the lease had expired, null if no lease was held.
   */
  readonly leaseLeftMs: number | null;
  /** CPU time of the process during the block, in milliseconds; null if the platform does not report it. */
  readonly cpuMs: number | null;
  /**
   * Whether the process was not computing for most of the block: the machine is overloaded or suspended the process, or
   * a handler waits in a synchronous call. Null if the platform does not report CPU time.
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
