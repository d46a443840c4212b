import { monotonicMs, toEpochMs } from "../../core/clock.ts";
import type { SubmittedTask } from "../../core/operations/submit.ts";
import type { Task } from "../../core/task.ts";
import type { SubmitOptions } from "../../producer/submit/submit-options.ts";
import type { TaskContext, UserStatement } from "../task-context.ts";
import type { Attempt } from "./attempt.ts";
import { unlessOutOfQueries } from "./query-share.ts";
import type { SettledTask } from "./settlement-result.ts";

/**
 * The context of one attempt. Members are getters on the prototype, so that what a handler does not touch costs
 * nothing and a method may be taken off: `({ payload, progress }) => ...`.
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
  get deadlineMs(): number {
    return toEpochMs(this.#attempt.deadlineMs);
  }
  get canceled(): boolean {
    return this.#attempt.canceled;
  }
  get lostLease(): boolean {
    return this.#attempt.lost;
  }
  get timeLeftMs(): TaskContext["timeLeftMs"] {
    return () => Math.max(0, this.#attempt.deadlineMs - monotonicMs());
  }
  get progress(): TaskContext["progress"] {
    return (value, message) => this.#attempt.progress(value, message).catch(unlessOutOfQueries);
  }
  get heartbeat(): TaskContext["heartbeat"] {
    return async () => {
      const beat = await this.#attempt.heartbeat().catch(unlessOutOfQueries);
      return beat ?? { canceled: this.canceled };
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
      this.#attempt.succeedWith(statements, result);
  }
  get fail(): TaskContext["fail"] {
    return (reason, options) => this.#attempt.failBecause(reason, options);
  }
  get settled(): Promise<SettledTask> {
    return this.#attempt.settled;
  }
  get submit(): TaskContext["submit"] {
    const submit = (
      task: Parameters<Attempt["submit"]>[0],
      payload: unknown,
      options?: SubmitOptions,
    ): Promise<SubmittedTask> => this.#attempt.submit(task, payload, options);
    return submit as TaskContext["submit"];
  }
}
