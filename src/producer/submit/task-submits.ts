/** The documentation of the methods that submit; `Wadi` has them. */
import type { SubmitCallOptions } from "../call-options.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import type { PayloadOf, ResultOf, SubmittedOf } from "../task-types.ts";
import type { CallTaskOptions } from "../wait/wait-options.ts";
import type { SubmitEntry, SubmitOptions } from "./submit-options.ts";

/** The methods of a `Wadi` that submit tasks. */
export interface TaskSubmits {
  /**
   * Queues one task, in one round trip, and returns it. Submits of the same tick share their round trip.
   * If the key has a task already, the conflict policy may return that one instead (`outcome: "reused"`).
   *
   * @throws {InvalidArgument} | {SerializationError} before anything is sent.
   * @throws {AlreadyExists} under the policy `reject`, and if the key belongs to a task of another name.
   * @throws {QueueFull} if the queue has `maxQueueDepth` tasks and gets no room within `maxQueueWaitMs`.
   * @example
   * ```ts
   * const task = await wadi.submit(resize, { url: "https://example.com/a.png" }, { key: "image:a", delayMs: 60_000 });
   * console.log(task.id, task.outcome);
   * ```
   */
  submit<T extends string | AnyTaskDefinition>(
    task: T,
    payload: PayloadOf<T>,
    options?: SubmitOptions & SubmitCallOptions,
  ): Promise<SubmittedOf<T>>;

  /**
   * Queues many tasks of one name and returns them in order. They are sent as one JSON parameter, which is split only
   * if it is larger than the database accepts or holds a key twice; each part is atomic by itself. Where the policy
   * `reject` refuses a key, the entry has `outcome: "rejected"` and is the task that has the key.
   *
   * @throws {AlreadyExists} if a key belongs to a task of another name; nothing of that part is queued.
   * @throws {QueueFull} as `submit`, before any of them is queued.
   * @example
   * ```ts
   * const entries = ["ada@example.com", "alan@example.com"].map((to) => ({ payload: { to }, priority: 5 }));
   * const tasks = await wadi.submitMany("mail", entries);
   * ```
   */
  submitMany<T extends string | AnyTaskDefinition>(
    task: T,
    entries: readonly SubmitEntry<PayloadOf<T>>[],
    call?: SubmitCallOptions,
  ): Promise<SubmittedOf<T>[]>;

  /**
   * Submits a task, waits for it and returns its result. An outage shorter than `timeoutMs` does not end it, not even
   * during the submit: the task has its id from the start, so that however often it is sent, it is one task.
   *
   * @throws {TaskFailed} | {TaskCanceled} | {TaskTimeout}
   * @throws {InvalidArgument} also if the `id` is that of a task of another name.
   * @throws {DriverError} with `taskId`; a call with this `id` makes no second task.
   * @example
   * ```ts
   * const { bytes } = await wadi.call(resize, { url: "https://example.com/a.png" }, { timeoutMs: 10_000 });
   * ```
   */
  call<T extends string | AnyTaskDefinition>(
    task: T,
    payload: PayloadOf<T>,
    options?: SubmitOptions & CallTaskOptions,
  ): Promise<ResultOf<T>>;
}
