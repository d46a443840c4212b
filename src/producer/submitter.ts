import { AlreadyExists, InvalidArgument } from "../core/errors.ts";
import { fenceKeys } from "../core/operations/key-fence.ts";
import type { Held } from "../core/operations/lease.ts";
import { type NewTask, type SubmittedTask, submit } from "../core/operations/submit.ts";
import { splitTasks } from "../core/split.ts";
import type { Store } from "../core/store.ts";
import { Backpressure, type BackpressureOptions } from "./backpressure.ts";
import type { AnyTaskDefinition } from "./define-task.ts";
import { notRejected, prepareMany } from "./own-rows.ts";
import type { Signals } from "./signals.ts";
import {
  type Lineage,
  type MetadataHook,
  type PrepareContext,
  prepareTask,
  type SubmitEntry,
  type SubmitOptions,
  validatePayload,
} from "./submission.ts";
import { SubmitQueue } from "./submit-queue.ts";

export interface SubmitterOptions extends BackpressureOptions {
  /** Called at each submit; what it returns is added to the task's metadata, where the submit's own entries stay. */
  readonly metadata?: MetadataHook | undefined;
  /**
   * Whether a key is one piece of work whatever the name of its task, as it is for other SDKs of the protocol: a submit
   * then gets, or replaces, the task of another name. Else it is refused with `AlreadyExists`. @default false
   */
  readonly keysAcrossNames?: boolean | undefined;
}

/** Takes a submit from its arguments to the stored task: checks, validates, waits for room, sends and announces. */
export class Submitter {
  readonly #store: Store;
  readonly #signals: Signals;
  readonly #defaults: PrepareContext;
  readonly #backpressure: Backpressure;
  readonly #queue: SubmitQueue;

  /** @throws {InvalidArgument} if an option is of the wrong type or out of range. */
  constructor(store: Store, signals: Signals, options: SubmitterOptions) {
    const { metadata: hook, keysAcrossNames } = options;
    if (hook !== undefined && typeof hook !== "function") {
      throw new InvalidArgument("metadata must be a function of { name, queue }");
    }
    if (keysAcrossNames !== undefined && typeof keysAcrossNames !== "boolean") {
      throw new InvalidArgument("keysAcrossNames must be true or false");
    }
    this.#store = store;
    this.#signals = signals;
    this.#defaults = { hook, keysAcrossNames };
    this.#backpressure = new Backpressure(store, options);
    this.#queue = new SubmitQueue(store.executor.limits, (tasks, parent) => this.#send(tasks, parent));
  }

  /** Checks and serialises one submit. Nothing is sent. */
  readonly check = (
    task: string | AnyTaskDefinition,
    payload: unknown,
    options?: SubmitOptions,
    lineage?: Lineage,
  ): NewTask => prepareTask(this.#store.executor, task, payload, options, { ...this.#defaults, lineage });

  /** `check`, and validates the payload against its schema. */
  async prepare(
    lineage: Lineage | undefined,
    task: string | AnyTaskDefinition,
    payload: unknown,
    options?: SubmitOptions,
  ): Promise<NewTask> {
    const prepared = this.check(task, payload, options, lineage);
    await validatePayload(task, prepared);
    return prepared;
  }

  async submit(prepared: NewTask, parent?: Held): Promise<SubmittedTask> {
    await this.#backpressure.admit([prepared]);
    return notRejected(prepared, await this.#queue.add(prepared, parent));
  }

  async submitMany(
    task: string | AnyTaskDefinition,
    entries: readonly SubmitEntry[],
  ): Promise<SubmittedTask[]> {
    const prepared = prepareMany(this.check, task, entries);
    for (const each of prepared) await validatePayload(task, each);
    await this.#backpressure.admit(prepared);
    const parts: SubmittedTask[][] = [];
    for (const part of splitTasks(prepared, this.#store.executor.limits))
      parts.push(await this.#sendMany(part));
    return parts.flat();
  }

  /** Notifies workers and waiters of new tasks. */
  readonly announce = (submitted: readonly SubmittedTask[]): void => {
    // Delayed tasks are announced too, so that workers can sleep until then; postponed tasks are already known.
    const news = submitted.filter(
      ({ outcome, runAtMs, updatedAtMs }) =>
        outcome === "created" || (outcome === "debounced" && runAtMs <= updatedAtMs),
    );
    if (news.length > 0) this.#signals.queued([...new Set(news.map(({ queue }) => queue))]);
  };

  async #send(tasks: readonly NewTask[], parent?: Held): Promise<SubmittedTask[]> {
    const submitted = await this.#store.submit(tasks, undefined, parent);
    this.announce(submitted);
    return submitted;
  }

  /** Queues all of them, or none if a key belongs to another name: one outcome among many is easily overlooked. */
  async #sendMany(tasks: readonly NewTask[]): Promise<SubmittedTask[]> {
    const { target } = this.#store;
    const operation = fenceKeys(target, tasks, submit(target, tasks), { rejects: false });
    try {
      const submitted = await this.#store.execute(operation);
      this.announce(submitted);
      return submitted;
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
      // The error of a fence has room for ids only.
      const { key, taskId, submittedName: submitted } = error;
      const existing = (await this.#store.get({ id: taskId }))?.name;
      throw new AlreadyExists(key, taskId, { submitted, existing });
    }
  }
}
