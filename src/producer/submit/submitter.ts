import { AlreadyExists, InvalidArgument } from "../../core/errors/errors.ts";
import { fenceKeys } from "../../core/operations/fence-keys.ts";
import { splitTasks } from "../../core/operations/split-tasks.ts";
import { type NewTask, type SubmittedTask, submit } from "../../core/operations/submit.ts";
import { type CallOptions, refuseOpenTransaction } from "../../core/session/call-options.ts";
import { isTooLarge } from "../../core/session/pages.ts";
import type { Store } from "../../core/session/store.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import type { Notifier } from "../notify/notifier.ts";
import { notRejected } from "../transactional/shared.ts";
import { Backpressure, type BackpressureOptions } from "./backpressure.ts";
import { prepareMany, validateMany } from "./entries.ts";
import type { Lineage } from "./lineage.ts";
import { type MetadataHook, type PrepareContext, prepareTask, validatePayload } from "./prepare-task.ts";
import type { SubmitEntry, SubmitOptions } from "./submit-options.ts";
import { type SendOptions, SubmitQueue } from "./submit-queue.ts";

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
  readonly #signals: Notifier;
  readonly #defaults: PrepareContext;
  readonly #backpressure: Backpressure;
  readonly #queue: SubmitQueue;

  /** @throws {InvalidArgument} if an option is of the wrong type or out of range. */
  constructor(store: Store, signals: Notifier, options: SubmitterOptions) {
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
    const tooLate = () => {
      const advice =
        "its deadline came before it was sent, and nothing is queued; give it a later deadlineMs";
      return store.session.driverError("submit", "unavailable", new Error("the deadline is past"), advice);
    };
    this.#queue = new SubmitQueue(
      store.session.executor.limits,
      (tasks, options) => this.#send(tasks, options),
      tooLate,
    );
  }

  /** Checks and serialises one submit. Nothing is sent. */
  readonly check = (
    task: string | AnyTaskDefinition,
    payload: unknown,
    options?: SubmitOptions,
    lineage?: Lineage,
  ): NewTask =>
    prepareTask(this.#store.session.executor, task, payload, options, { ...this.#defaults, lineage });

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

  /** Waits for room and sends. */
  async submit(prepared: NewTask, options: SendOptions = {}): Promise<SubmittedTask> {
    await this.admit([prepared], options.call);
    return this.send(prepared, options);
  }

  /** Waits until the queues have room for these tasks. */
  async admit(prepared: readonly NewTask[], call?: CallOptions): Promise<void> {
    const admitted = this.#backpressure.admit(prepared, call);
    return call === undefined ? admitted : this.#store.session.untilDeadline("submit", admitted, call);
  }

  /** Sends a task that was admitted. */
  async send(prepared: NewTask, options: SendOptions): Promise<SubmittedTask> {
    const sent = this.#queue.add(prepared, options);
    const { call } = options;
    return notRejected(
      prepared,
      await (call === undefined ? sent : this.#store.session.untilDeadline("submit", sent, call)),
    );
  }

  async submitMany(
    task: string | AnyTaskDefinition,
    entries: readonly SubmitEntry[],
    call: CallOptions = {},
  ): Promise<SubmittedTask[]> {
    const prepared = prepareMany(this.check, task, entries);
    await Promise.all(validateMany(task, prepared));
    await this.admit(prepared, call);
    const parts: SubmittedTask[][] = [];
    for (const part of splitTasks(prepared, this.#store.session.executor.limits))
      parts.push(await this.#sendMany(part, call));
    return parts.flat();
  }

  /** Tells workers of new tasks, and of running ones that a replace may have asked to stop: whose is not reported. */
  readonly announce = (submitted: readonly SubmittedTask[], tasks: readonly NewTask[]): void => {
    if (tasks.some(({ conflict }) => conflict === "replace")) this.#signals.canceled(null);
    // Delayed tasks are announced too, so that workers can sleep until then; postponed tasks are already known.
    const news = submitted.filter(
      ({ outcome, runAtMs, updatedAtMs }) =>
        outcome === "created" || (outcome === "debounced" && runAtMs <= updatedAtMs),
    );
    if (news.length > 0) this.#signals.queued([...new Set(news.map(({ queue }) => queue))]);
  };

  async #send(tasks: readonly NewTask[], { parent, call, isResent }: SendOptions): Promise<SubmittedTask[]> {
    const metered = parent?.meter === undefined ? call : { ...call, meter: parent.meter };
    const submitted = await this.#store.submit(tasks, refuseOpenTransaction(metered), parent, isResent);
    this.announce(submitted, tasks);
    return submitted;
  }

  /** Queues all of them, or none if a key belongs to another name: one outcome among many is easily overlooked. */
  async #sendMany(tasks: readonly NewTask[], call: CallOptions, isResent = false): Promise<SubmittedTask[]> {
    const { target } = this.#store.session;
    const operation = fenceKeys(target, tasks, submit(target, tasks, isResent), { rejects: false });
    try {
      const submitted = await this.#store.session.execute(operation, refuseOpenTransaction(call));
      this.announce(submitted, tasks);
      return submitted;
    } catch (error) {
      if (isTooLarge(error) && tasks.length > 1) {
        const middle = Math.ceil(tasks.length / 2);
        const first = await this.#sendMany(tasks.slice(0, middle), call, true);
        return [...first, ...(await this.#sendMany(tasks.slice(middle), call, true))];
      }
      if (!(error instanceof AlreadyExists)) throw error;
      // The error of a fence has room for ids only.
      const { key, taskId, submittedName: submitted } = error;
      const existing = (await this.#store.get({ id: taskId }, call))?.name;
      throw new AlreadyExists(key, taskId, { submitted, existing });
    }
  }
}
