/** A submit between its checks and its answer, as `wadi.call` holds it to send it again. */
import type { LeaseRef } from "../../core/operations/lease.ts";
import type { NewTask, SubmittedTask } from "../../core/operations/submit.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { SendOptions } from "./submit-batcher.ts";

/** The stages of a submit that need the database. */
export interface SubmissionStages {
  admit(tasks: readonly NewTask[], call?: OperationOptions): Promise<void>;
  coalesce(task: NewTask, options: SendOptions): Promise<SubmittedTask>;
}

/**
 * One valid task on its way to the database. It is admitted once, and may be sent again until it is known to be stored:
 * its id makes sure that it stays one task.
 */
export class Submission {
  readonly #task: NewTask;
  readonly #parent: LeaseRef | undefined;
  readonly #stages: SubmissionStages;
  #isAdmitted: boolean;
  #isSent: boolean;

  /**
   * @param parent The lease without which it is refused.
   * @param isSent Whether the same was sent before and may have been committed.
   */
  constructor(task: NewTask, parent: LeaseRef | undefined, stages: SubmissionStages, isSent: boolean) {
    this.#task = task;
    this.#parent = parent;
    this.#stages = stages;
    this.#isAdmitted = isSent;
    this.#isSent = isSent;
  }

  get id(): string {
    return this.#task.columns.id;
  }

  get name(): string {
    return this.#task.columns.name;
  }

  /** Whether it may be stored: it has been sent, and perhaps its answer was lost. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** @throws {QueueFull} if its queue gets no room in time. */
  async admit(call?: OperationOptions): Promise<void> {
    if (!this.#isAdmitted) await this.#stages.admit([this.#task], call);
    this.#isAdmitted = true;
  }

  /** @throws {AlreadyExists} if it was rejected. */
  send(call?: OperationOptions): Promise<SubmittedTask> {
    const isResent = this.#isSent;
    this.#isSent = true;
    return this.#stages.coalesce(this.#task, { parent: this.#parent, call, isResent });
  }
}
