/** The way of a submit from its arguments to the stored task, in seven stages. */
import { optionalFunction } from "../../core/check-options.ts";
import { AlreadyExists, DriverError } from "../../core/errors/errors.ts";
import { fenceOperation } from "../../core/operations/fence.ts";
import { fenceTakenKeys } from "../../core/operations/fence-taken-keys.ts";
import type { Operation } from "../../core/operations/operation.ts";
import { getTask } from "../../core/operations/read.ts";
import { splitTasks } from "../../core/operations/split-tasks.ts";
import { type NewTask, type SubmittedTask, submit } from "../../core/operations/submit.ts";
import { type OperationOptions, refuseOpenTransaction } from "../../core/session/operation-options.ts";
import { isTooLarge } from "../../core/session/read-by-halves.ts";
import type { Session } from "../../core/session/session.ts";
import { optionalFlag } from "../../core/validate.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import type { HintCells } from "../hint/hint-cells.ts";
import type { Notifier } from "../notify/notifier.ts";
import type { WadiOptions } from "../wadi-options.ts";
import type { Waker } from "../wake/waker.ts";
import { Backpressure, type BackpressureOptions } from "./backpressure.ts";
import { prepareEntries, validateEntries } from "./entries.ts";
import { prepareTask, type SubmitDefaults, type SubmitRequest } from "./prepare-task.ts";
import { refuseRejected } from "./rejected.ts";
import { Submission, type SubmissionStages } from "./submission.ts";
import { type BatchSender, type SendOptions, SubmitBatcher } from "./submit-batcher.ts";
import type { SubmitEntry } from "./submit-options.ts";
import { validatePayload } from "./validate-payload.ts";

export interface SubmitterParts {
  readonly session: Session;
  readonly notifier: Notifier;
  readonly waker: Waker | null;
  readonly hint: HintCells | null;
}

export type SubmitterOptions = BackpressureOptions & Pick<WadiOptions, "metadata" | "keysAcrossNames">;

/**
 * Carries submits from their arguments to stored tasks. The stages, each once and in this order:
 *
 * 1. check: the name, the key and the options, before any I/O (prepare-task)
 * 2. serialise: payload, metadata and options become the columns of a row (prepare-task)
 * 3. validate: the payload against the schema of its definition (validate-payload). After stage 2, because the schema
 *    gets the payload as the handler will: in its JSON form.
 * 4. admit: waits until the queue has room (backpressure)
 * 5. coalesce: joins the submits of one tick (submit-batcher)
 * 6. send: one round trip (session)
 * 7. announce: wakes the workers of this process (notifier), and the drains that rely on a hint
 *
 * `submitMany` skips stage 5: its tasks are one request already. Submits in a transaction or a batch of the application
 * take stages 1 to 3, are sent by the application, and then take stage 7 (transactional/).
 */
export class Submitter implements SubmissionStages, BatchSender {
  readonly #session: Session;
  readonly #notifier: Notifier;
  readonly #waker: Waker | null;
  readonly #hint: HintCells | null;
  readonly #defaults: SubmitDefaults;
  readonly #backpressure: Backpressure;
  readonly #batcher: SubmitBatcher;

  /** @throws {InvalidArgument} if an option is of the wrong type or out of range. */
  constructor({ session, notifier, waker, hint }: SubmitterParts, options: SubmitterOptions) {
    const { metadata: hook, keysAcrossNames } = options;
    optionalFunction("metadata", hook);
    optionalFlag("keysAcrossNames", keysAcrossNames);
    this.#session = session;
    this.#notifier = notifier;
    this.#waker = waker;
    this.#hint = hint;
    this.#defaults = { hook, keysAcrossNames };
    this.#backpressure = new Backpressure(session, options);
    this.#batcher = new SubmitBatcher(session, this);
  }

  /** All stages, for one task. With the lineage of a held task, `LostLease` once that lease is gone. */
  async submit(request: SubmitRequest, call?: OperationOptions): Promise<SubmittedTask> {
    const submission = await this.begin(request);
    await submission.admit(call);
    return submission.send(call);
  }

  /**
   * Stages 1 to 3; the rest when the submission is admitted and sent.
   *
   * @param sentId Its id, if it was sent before and may have been committed.
   */
  async begin(request: SubmitRequest, sentId?: string): Promise<Submission> {
    const prepared = this.prepare(request);
    await validatePayload(request.task, prepared);
    const isSent = sentId !== undefined;
    const task = isSent ? { ...prepared, columns: { ...prepared.columns, id: sentId } } : prepared;
    return new Submission(task, request.lineage?.held, this, isSent);
  }

  /** All stages, for many tasks of one name. */
  async submitMany(
    task: string | AnyTaskDefinition,
    entries: readonly SubmitEntry[],
    call: OperationOptions = {},
  ): Promise<SubmittedTask[]> {
    const prepared = this.prepareMany(task, entries);
    await Promise.all(validateEntries(task, prepared));
    await this.admit(prepared, call);
    const parts: SubmittedTask[][] = [];
    for (const part of splitTasks(prepared, this.#session.executor.limits))
      parts.push(await this.#sendMany(part, call));
    return parts.flat();
  }

  /** Stages 1 and 2. */
  prepare(request: SubmitRequest): NewTask {
    return prepareTask(this.#session.executor, request, this.#defaults);
  }

  /** Stages 1 and 2 for each entry of a `submitMany`. */
  prepareMany(task: string | AnyTaskDefinition, entries: readonly SubmitEntry[]): NewTask[] {
    return prepareEntries((request) => this.prepare(request), task, entries);
  }

  /** Stage 7. A replace may have asked running tasks to stop: it is not known which. */
  announce(submitted: readonly SubmittedTask[], tasks: readonly NewTask[]): void {
    if (tasks.some(({ conflict }) => conflict === "replace")) this.#notifier.canceled(null);
    // Delayed tasks are announced too, so that workers can sleep until then; postponed tasks are already known.
    const news = submitted.filter(
      ({ outcome, runAtMs, updatedAtMs }) =>
        outcome === "created" || (outcome === "debounced" && runAtMs <= updatedAtMs),
    );
    if (news.length === 0) return;
    this.#notifier.queued([...new Set(news.map(({ queue }) => queue))]);
    this.#hint?.touch();
  }

  async admit(prepared: readonly NewTask[], call?: OperationOptions): Promise<void> {
    const admitted = this.#backpressure.admit(prepared, call);
    return call === undefined ? admitted : this.#session.untilDeadline("submit", admitted, call);
  }

  async coalesce(prepared: NewTask, options: SendOptions): Promise<SubmittedTask> {
    const sent = this.#batcher.add(prepared, options);
    const { call } = options;
    return refuseRejected(
      prepared,
      await (call === undefined ? sent : this.#session.untilDeadline("submit", sent, call)),
    );
  }

  async sendBatch(
    tasks: readonly NewTask[],
    { parent, call, isResent }: SendOptions,
  ): Promise<SubmittedTask[]> {
    const metered = parent?.meter === undefined ? call : { ...call, meter: parent.meter };
    const { target } = this.#session;
    const submission = submit(target, tasks, isResent);
    const operation = parent === undefined ? submission : fenceOperation(target, parent, submission);
    const submitted = await this.#execute(operation, tasks, refuseOpenTransaction(metered));
    this.announce(submitted, tasks);
    return submitted;
  }

  /** Queues all of them, or none if a key belongs to another name: one outcome among many is easily overlooked. */
  async #sendMany(
    tasks: readonly NewTask[],
    call: OperationOptions,
    isResent = false,
  ): Promise<SubmittedTask[]> {
    const { target } = this.#session;
    const operation = fenceTakenKeys(target, tasks, submit(target, tasks, isResent), { rejects: false });
    try {
      const submitted = await this.#execute(operation, tasks, refuseOpenTransaction(call));
      this.announce(submitted, tasks);
      return submitted;
    } catch (error) {
      if (isTooLarge(error) && tasks.length > 1) {
        const middle = Math.ceil(tasks.length / 2);
        const first = await this.#sendMany(tasks.slice(0, middle), call, true);
        return [...first, ...(await this.#sendMany(tasks.slice(middle), call, true))];
      }
      throw error instanceof AlreadyExists ? await this.#withExistingName(error, call) : error;
    }
  }

  /** Stage 6, which also finds out whether to kick a drain, and then does. */
  async #execute<T>(operation: Operation<T>, tasks: readonly NewTask[], call: OperationOptions): Promise<T> {
    try {
      if (this.#waker === null) return await this.#session.execute(operation, call);
      return await this.#waker.submit(operation, tasks, call);
    } catch (error) {
      if (error instanceof DriverError) this.#hint?.touch(); // it may be committed
      throw error;
    }
  }

  /** The error of a fence carries ids only. */
  async #withExistingName(
    { key, taskId, submittedName }: AlreadyExists,
    call: OperationOptions,
  ): Promise<AlreadyExists> {
    const existing = (await this.#session.execute(getTask(this.#session.target, { id: taskId }), call))?.name;
    return new AlreadyExists(key, taskId, { submitted: submittedName, existing });
  }
}
