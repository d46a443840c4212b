import type { TaskDefinition } from "../core/define-task.ts";
import type { SubmittedTask } from "../core/operations/submit.ts";
import type { SubmitOptions } from "../core/submission.ts";
import type { Task } from "../core/task.ts";

/** What a handler gets: the task, its validated payload, and ways to report and to end the attempt. */
export interface TaskContext<Payload = unknown, Result = unknown> {
  readonly payload: Payload;
  /** The task as it was claimed: ids, attempt, metadata, times. */
  readonly task: Task;
  readonly id: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /**
   * Aborts at the deadline, and when a heartbeat or progress report learned that a cancel was requested or the
   * lease is lost. A drain that is shorter than its lease sends no heartbeat by itself.
   */
  readonly signal: AbortSignal;
  /** Epoch milliseconds at which the attempt is cut off. */
  readonly deadlineMs: number;
  /** Milliseconds until the attempt is cut off, never negative. */
  timeLeftMs(): number;
  /** True once a heartbeat or progress report learned that a cancel was requested. */
  readonly canceled: boolean;
  /**
   * Reports progress (0..1; what is outside is clamped, null leaves it alone) and a message, in one round trip.
   *
   * @throws {LostLease} if another worker may have the task now: stop.
   */
  progress(value: number | null, message?: string): Promise<void>;
  /**
   * Extends the lease and learns whether a cancel was requested. Needed by handlers that want to know sooner
   * than the worker's own heartbeat, or in a drain that sends none.
   *
   * @throws {LostLease}
   */
  heartbeat(): Promise<{ readonly canceled: boolean }>;
  /** Ends the attempt with this result at once, and returns it; what the handler returns later is ignored. */
  succeed(result: Result): Result;
  /** Ends the attempt as failed at once, as if `error` had been thrown. */
  fail(error: unknown): void;
  /** Submits a child task; parent, root and correlation id are wired. */
  submit<Input, ChildPayload, ChildResult>(
    task: TaskDefinition<Input, ChildPayload, ChildResult>,
    payload: Input,
    options?: SubmitOptions,
  ): Promise<SubmittedTask<Input, ChildResult>>;
  submit(task: string, payload: unknown, options?: SubmitOptions): Promise<SubmittedTask>;
}

/** Does the work of one attempt. What it returns is the task's result; what it throws fails the attempt. */
export type Handler<Payload = unknown, Result = unknown> = (
  context: TaskContext<Payload, Result>,
) => Result | Promise<Result>;
