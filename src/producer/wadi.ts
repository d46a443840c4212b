import { InvalidArgument } from "../core/errors/errors.ts";
import type { Executor } from "../core/executor.ts";
import type { MigrateOptions } from "../core/migrations/migrate.ts";
import type { TaskState } from "../core/operations/read.ts";
import type { SubmittedTask } from "../core/operations/submit.ts";
import type { CallOptions } from "../core/session/call-options.ts";
import { Store, type StoreOptions } from "../core/session/store.ts";
import type { Task } from "../core/task.ts";
import { onlyKnown, text } from "../core/validate.ts";
import type { AnyTaskDefinition } from "./define-task.ts";
import type { Lineage } from "./submit/lineage.ts";
import { checkCall, type SubmitCallOptions, splitCall } from "./submit/submit-call.ts";
import { SUBMIT_OPTIONS, type SubmitEntry, type SubmitOptions } from "./submit/submit-options.ts";
import { Submitter, type SubmitterOptions } from "./submit/submitter.ts";
import { byKey, byTask, TaskAdmin } from "./task-admin.ts";
import type { PayloadOf, ResultOf, SubmittedOf } from "./task-types.ts";
import { type StatementBuilder, statementBuilder } from "./transactional/batch.ts";
import type { Transport } from "./transactional/shared.ts";
import { type TransactionClient, transactionClient } from "./transactional/transaction.ts";
import { callTask } from "./wait/call.ts";
import { PollLoop } from "./wait/poll-loop.ts";
import { type CallTaskOptions, checkWait, WAIT_OPTIONS, type WaitOptions, waitForTask } from "./wait/wait.ts";
import { namesOf, waitForTasks } from "./wait/wait-many.ts";
import { watchTask } from "./wait/watch.ts";

export interface WadiOptions extends StoreOptions, SubmitterOptions {
  /**
   * Names the database within this process. Every `Wadi` of one database wakes the waits and workers of the others, those of other
   * copies of this module included, as bundlers make them. Needed where the driver cannot tell (libSQL and Neon, unless they
   * share one client). @default what the driver knows: file, host and database, or the client object
   */
  readonly database?: string | undefined;
}

/**
 * The producer's side: submits tasks, reads and controls them, and waits for their results. `Native` and `Sync` come from
 * the executor: what its client's own statements are, and whether its open transactions answer at once.
 */
export class Wadi<Native = unknown, Sync extends boolean = boolean> extends TaskAdmin {
  /** Makes statements to send in a batch of your own, together with your rows. */
  readonly statements: StatementBuilder<Native>;
  readonly #submitter: Submitter;
  readonly #waits: PollLoop;

  constructor(executor: Executor<Native, Sync>, options: WadiOptions = {}) {
    onlyKnown("new Wadi", options, [
      "requestRetry",
      "clock",
      "maxQueueDepth",
      "maxQueueWaitMs",
      "metadata",
      "keysAcrossNames",
      "database",
    ]);
    onlyKnown("requestRetry", options.requestRetry, ["tries", "baseMs", "capMs"]);
    if (executor?.protocol === undefined) {
      throw new InvalidArgument("new Wadi takes an executor, such as betterSqlite3(db)");
    }
    const { database } = options;
    super(new Store(executor, options), database === undefined ? undefined : text("database", database));
    this.#submitter = new Submitter(this.store, this.signals, options);
    this.statements = statementBuilder(this.store, this.#submitter.check, this.#told);
    this.#waits = new PollLoop(this.store, this.signals);
  }

  get #told(): Pick<Transport, "onSubmitted" | "onCanceled"> {
    return { onSubmitted: this.#submitter.announce, onCanceled: () => this.signals.canceled(null) };
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
    onlyKnown("submit", options, [...SUBMIT_OPTIONS, "signal", "deadlineMs"]);
    const { call, rest } = splitCall(options);
    return this.submitFrom(undefined, task, payload, rest, call) as Promise<SubmittedOf<T>>;
  }

  /** `submit` for a child of another task, refused with `LostLease` once the parent's lease is gone. */
  async submitFrom(
    lineage: Lineage | undefined,
    task: string | AnyTaskDefinition,
    payload: unknown,
    options?: SubmitOptions,
    call?: CallOptions,
  ): Promise<SubmittedTask> {
    const prepared = await this.#submitter.prepare(lineage, task, payload, options);
    return this.#submitter.submit(prepared, { parent: lineage?.held, call });
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

  /**
   * Submits, cancels and reads as a part of an open transaction of yours: a node-pg client after `BEGIN`, a
   * better-sqlite3 handle inside of `db.transaction(() => ...)`, a transaction of libSQL, PGlite or Drizzle.
   *
   * The tables must be there; run `migrate()` when the program starts. Where the client answers at once, so do the
   * methods. Workers of the same `Wadi` may look for the tasks before you commit, and look again as ever.
   *
   * @throws {InvalidArgument} if no transaction is open on `tx`.
   * @throws {Unsupported} where there is none, as on D1 and Neon over HTTP: use `statements`.
   */
  with(tx: unknown): TransactionClient<Sync> {
    return transactionClient(this.store, this.#submitter.check, tx, this.#told);
  }

  /**
   * Waits until a task has succeeded, failed or was canceled, and returns it.
   *
   * @throws {TaskTimeout} with the task as last seen; the task itself goes on.
   */
  wait<Payload, Result>(task: Task<Payload, Result>, options?: WaitOptions): Promise<Task<Payload, Result>>;
  wait(id: string, options?: WaitOptions): Promise<Task>;
  async wait(task: string | Task, options?: WaitOptions): Promise<Task> {
    return waitForTask(this.#waits, byTask("wait", task), checkWait(options));
  }

  /** Waits for the task a key points at; a replace moves the wait, and a key without a task is waited for. */
  async waitByKey<Payload = unknown, Result = unknown>(
    key: string,
    options?: WaitOptions,
  ): Promise<Task<Payload, Result>> {
    return waitForTask(this.#waits, byKey(key), checkWait(options, "waitByKey")) as Promise<
      Task<Payload, Result>
    >;
  }

  /**
   * Waits until all of these tasks are terminal and returns them in this order. One request polls all that are
   * open; whole rows are read a hundred at a time. An empty list is answered at once.
   *
   * @throws {TaskTimeout} with the ids that are `missing`.
   */
  waitMany<Payload, Result>(
    tasks: readonly Task<Payload, Result>[],
    options?: WaitOptions,
  ): Promise<Task<Payload, Result>[]>;
  waitMany(ids: readonly (string | Task)[], options?: WaitOptions): Promise<Task[]>;
  async waitMany(tasks: readonly (string | Task)[], options?: WaitOptions): Promise<Task[]> {
    const ids = namesOf("waitMany", "id", tasks, (task) => (typeof task === "string" ? task : task?.id));
    return waitForTasks(this.#waits, ids, false, checkWait(options, "waitMany"));
  }

  /** `waitMany` for the tasks that keys point at; a replace moves the wait, and a key without a task is waited for. */
  async waitManyByKey<Payload = unknown, Result = unknown>(
    keys: readonly string[],
    options?: WaitOptions,
  ): Promise<Task<Payload, Result>[]> {
    const names = namesOf("waitManyByKey", "key", keys, (key) => key);
    return waitForTasks(this.#waits, names, true, checkWait(options, "waitManyByKey")) as Promise<
      Task<Payload, Result>[]
    >;
  }

  /**
   * The states of a task, each time its status, progress, message or attempt has changed, until it is terminal. Changes that
   * follow each other closely may be reported as one. It polls as `wait` does; `return()`, or leaving a `for await`, ends it at once.
   *
   * @throws {InvalidArgument} at once; {TaskTimeout} while iterating, with the task as last seen.
   */
  watch(task: string | Task, options?: WaitOptions): AsyncIterableIterator<TaskState> {
    return watchTask(this.#waits, byTask("watch", task), checkWait(options, "watch"));
  }

  /** `watch` for the task a key points at: a replace goes on with the new task, and a key without one is waited for. */
  watchByKey(key: string, options?: WaitOptions): AsyncIterableIterator<TaskState> {
    return watchTask(this.#waits, byKey(key), checkWait(options, "watchByKey"));
  }

  /**
   * Submits a task, waits for it and returns its result. It outlives an outage that is shorter than its `timeoutMs`, the
   * submit included: the task has its id from the start, so that what is sent again is one task.
   *
   * @throws {TaskFailed} | {TaskCanceled} | {TaskTimeout}
   * @throws {InvalidArgument} also if the `id` is that of a task of another name.
   * @throws {DriverError} with `taskId`; a call with this `id` makes no second task.
   */
  async call<T extends string | AnyTaskDefinition>(
    task: T,
    payload: PayloadOf<T>,
    options: SubmitOptions & CallTaskOptions = {},
  ): Promise<ResultOf<T>> {
    onlyKnown("call", options, [...SUBMIT_OPTIONS, ...WAIT_OPTIONS, "id"]);
    const { timeoutMs, signal, pollMs, maxPollMs, maxQueries, id, ...submitOptions } = options;
    const wait = checkWait({ timeoutMs, signal, pollMs, maxPollMs, maxQueries });
    const again = id === undefined ? null : text("id", id);
    const prepared = await this.#submitter.prepare(undefined, task, payload, submitOptions);
    const sent = again === null ? prepared : { ...prepared, columns: { ...prepared.columns, id: again } };
    const result = await callTask(this.#waits, this.#submitter, sent, wait, again !== null);
    return result as ResultOf<T>;
  }

  /**
   * Applies missing migrations. Not needed: the first operation that finds no tables does the same. What is
   * optional is applied only here. It ends after ten minutes unless `call` says otherwise.
   */
  async migrate(options?: MigrateOptions, call?: SubmitCallOptions): Promise<void> {
    return this.store.session.migrate(options, checkCall("migrate", call));
  }

  /** Closes what Wadi opened; waits that go on only poll from then on. The database client stays open. */
  async close(): Promise<void> {
    await this.signals.close();
    await this.executor.close();
  }
}

/**
 * The type of the `Wadi` over an executor, or over what a driver returns, for a variable or a parameter that keeps what its
 * executor can do: `WadiOf<ReturnType<typeof betterSqlite3>>`, `WadiOf<typeof executor>`.
 */
export type WadiOf<E> = E extends Executor<infer Native, infer Sync> ? Wadi<Native, Sync> : never;

/** A `Wadi` whose `with(tx)` answers synchronously, as over better-sqlite3. */
export type SyncWadi = Wadi<never, true>;
