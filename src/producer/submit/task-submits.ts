import { checkCall, type SubmitCallOptions, splitCall } from "../call-options.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import type { PayloadOf, SubmittedOf } from "../task-types.ts";
import { SUBMIT_OPTIONS, type SubmitEntry, type SubmitOptions } from "./submit-options.ts";
import type { Submitter } from "./submitter.ts";

/** The methods of a `Wadi` that submit tasks. */
export class TaskSubmits {
  readonly #submitter: Submitter;

  constructor(submitter: Submitter) {
    this.#submitter = submitter;
  }

  /**
   * Queues one task, in one round trip, and returns it. Submits of the same tick share their round trip.
   * With a key it returns the key's task instead where the conflict policy says so (`outcome: "reused"`).
   *
   * @throws {InvalidArgument} | {SerializationError} before anything is sent.
   * @throws {AlreadyExists} under the policy `reject`, and if the key belongs to a task of another name.
   * @throws {QueueFull} if the queue has `maxQueueDepth` tasks and gets no room within `maxQueueWaitMs`.
   */
  async submit<T extends string | AnyTaskDefinition>(
    task: T,
    payload: PayloadOf<T>,
    options?: SubmitOptions & SubmitCallOptions,
  ): Promise<SubmittedOf<T>> {
    const { call, rest } = splitCall("submit", options, SUBMIT_OPTIONS);
    return this.#submitter.submit({ task, payload, options: rest }, call) as Promise<SubmittedOf<T>>;
  }

  /**
   * Queues many tasks of one name and returns them in order. They travel as one JSON parameter, split only
   * where it would be larger than the database takes (or names a key twice); each part is atomic by itself.
   * A key that the policy `reject` refuses shows as `outcome: "rejected"`, with the task that has it.
   *
   * @throws {AlreadyExists} if a key belongs to a task of another name; nothing of that part is queued.
   * @throws {QueueFull} as `submit`, before any of them is queued.
   */
  async submitMany<T extends string | AnyTaskDefinition>(
    task: T,
    entries: readonly SubmitEntry<PayloadOf<T>>[],
    call?: SubmitCallOptions,
  ): Promise<SubmittedOf<T>[]> {
    return this.#submitter.submitMany(task, entries, checkCall("submitMany", call)) as Promise<
      SubmittedOf<T>[]
    >;
  }
}
