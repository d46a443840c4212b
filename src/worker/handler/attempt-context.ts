import { NEVER } from "../../core/infinity.ts";
import { monotonicMs, toEpochMs } from "../../core/monotonic-clock.ts";
import type { SubmittedTask } from "../../core/operations/submit.ts";
import type { Task } from "../../core/task.ts";
import type { AnyTaskDefinition } from "../../producer/define-task.ts";
import type { SubmitOptions } from "../../producer/submit/submit-options.ts";
import type { TaskContext, UserStatement } from "../task-context.ts";
import type { Attempt } from "./attempt.ts";
import { renewLease, reportProgress, settledTask, submitChild, succeedWith } from "./attempt-requests.ts";
import { ignoreQueryLimit } from "./query-share.ts";
import type { SettledTask } from "./settled-task.ts";

/**
 * The context that a handler gets for one attempt. Its members are getters on the prototype: members that a handler
 * does not use cost nothing, and methods can be destructured, as in `({ payload, progress }) => ...`.
 */
export class AttemptContext implements TaskContext {
  readonly #attempt: Attempt;
  readonly payload: unknown;

  constructor(attempt: Attempt, payload: unknown) {
    this.#attempt = attempt;
    this.payload = payload;
  }

  get task(): Task {
    return this.#attempt.task;
  }
  get id(): string {
    return this.#attempt.task.id;
  }
  get attempt(): number {
    return this.#attempt.task.attempt;
  }
  get signal(): AbortSignal {
    return this.#attempt.signal;
  }
  get deadline(): Date | null {
    const { deadlineMs } = this.#attempt;
    return deadlineMs === NEVER ? null : new Date(toEpochMs(deadlineMs));
  }
  get canceled(): boolean {
    return this.#attempt.canceled;
  }
  get lostLease(): boolean {
    return this.#attempt.lost;
  }
  get remainingMs(): TaskContext["remainingMs"] {
    return () => Math.max(0, this.#attempt.deadlineMs - monotonicMs());
  }
  get progress(): TaskContext["progress"] {
    return (value, message) => reportProgress(this.#attempt, value, message).catch(ignoreQueryLimit);
  }
  get heartbeat(): TaskContext["heartbeat"] {
    return async () => {
      const renewed = await renewLease(this.#attempt).catch(ignoreQueryLimit);
      return renewed ?? { canceled: this.canceled };
    };
  }
  get succeed(): TaskContext["succeed"] {
    return (result) => {
      this.#attempt.complete(result);
      return result;
    };
  }
  get succeedWith(): TaskContext["succeedWith"] {
    return (statements: readonly UserStatement[], result?: unknown) =>
      succeedWith(this.#attempt, statements, result);
  }
  get fail(): TaskContext["fail"] {
    return (reason, options) => this.#attempt.failBecause(reason, options);
  }
  get snooze(): TaskContext["snooze"] {
    return (delayMs) => this.#attempt.snooze(delayMs) as undefined;
  }
  get settled(): Promise<SettledTask> {
    return settledTask(this.#attempt);
  }
  get submit(): TaskContext["submit"] {
    const submit = (
      task: string | AnyTaskDefinition,
      payload: unknown,
      options?: SubmitOptions,
    ): Promise<SubmittedTask> => submitChild(this.#attempt, task, payload, options);
    return submit as TaskContext["submit"];
  }
}
