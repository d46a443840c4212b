import { InvalidArgument } from "../core/errors/errors.ts";
import type { Executor } from "../core/executor.ts";
import type { MigrateOptions } from "../core/migrations/migrate.ts";
import type { CanceledTask, RetriedTask, SweepResult } from "../core/operations/control.ts";
import type { StatusCounts, TaskState } from "../core/operations/read.ts";
import { Store } from "../core/session/store.ts";
import type { Task, TaskFailure } from "../core/task.ts";
import { onlyKnown, text } from "../core/validate.ts";
import { checkCall, type ReadCallOptions, type SubmitCallOptions } from "./call-options.ts";
import type { AnyTaskDefinition } from "./define-task.ts";
import { setInternals, type WadiInternals } from "./internals.ts";
import type { WakeSource } from "./notify/channel.ts";
import { Notifier } from "./notify/notifier.ts";
import type { SubmitEntry, SubmitOptions } from "./submit/submit-options.ts";
import { Submitter } from "./submit/submitter.ts";
import { TaskSubmits } from "./submit/task-submits.ts";
import type { PayloadOf, ResultOf, SubmittedOf, TaskOf } from "./task-types.ts";
import type { RetentionRule } from "./tasks/retention.ts";
import {
  type PurgeOptions,
  type RetryOptions,
  type SweepOptions,
  TaskControls,
} from "./tasks/task-controls.ts";
import { type ListOptions, TaskReader } from "./tasks/task-reader.ts";
import { type StatementBuilder, statementBuilder } from "./transactional/batch.ts";
import { type TransactionClient, transactionClient } from "./transactional/transaction.ts";
import { WADI_OPTIONS, type WadiOptions } from "./wadi-options.ts";
import { callTask, splitCallTask } from "./wait/call.ts";
import { PollLoop } from "./wait/poll-loop.ts";
import { TaskWaits } from "./wait/task-waits.ts";
import type { CallTaskOptions, WaitOptions } from "./wait/wait.ts";

/** The methods of a part, without its private fields. */
type MethodsOf<Part> = Pick<Part, keyof Part>;

/**
 * The producer's side: submits tasks, reads and controls them, and waits for their results. `Native` and `Sync` come from
 * the executor: what its client's own statements are, and whether its open transactions are synchronous.
 *
 * A facade: each method belongs to a part, where it is documented and written.
 */
export class Wadi<Native = unknown, Sync extends boolean = boolean>
  implements MethodsOf<TaskSubmits>, MethodsOf<TaskReader>, MethodsOf<TaskControls>, MethodsOf<TaskWaits>
{
  readonly executor: Executor;
  /** Makes statements to send in a batch of your own, together with your rows. */
  readonly statements: StatementBuilder<Native>;
  readonly #internals: WadiInternals;
  readonly #submits: TaskSubmits;
  readonly #reader: TaskReader;
  readonly #controls: TaskControls;
  readonly #loop: PollLoop;
  readonly #waits: TaskWaits;

  constructor(executor: Executor<Native, Sync>, options: WadiOptions = {}) {
    onlyKnown("new Wadi", options, WADI_OPTIONS);
    onlyKnown("requestRetry", options.requestRetry, ["tries", "baseMs", "capMs"]);
    if (executor?.protocol === undefined) {
      throw new InvalidArgument("new Wadi takes an executor, such as betterSqlite3(db)");
    }
    const { database } = options;
    const store = new Store(executor, options);
    const notifier = new Notifier(executor, database === undefined ? undefined : text("database", database));
    const submitter = new Submitter(store, notifier, options);
    this.executor = executor;
    this.#internals = { executor, store, notifier, submitter };
    setInternals(this, this.#internals);
    this.statements = statementBuilder(this.#internals);
    this.#submits = new TaskSubmits(submitter);
    this.#reader = new TaskReader(store);
    this.#controls = new TaskControls(store, notifier);
    this.#loop = new PollLoop(store, notifier);
    this.#waits = new TaskWaits(this.#loop);
  }

  /**
   * What wakes its waits and workers before they poll: the database (`listening`), or this process alone (`local`, and
   * `polling` while a connection that listens is lost).
   */
  get wakeSource(): WakeSource {
    return this.#internals.notifier.wakeSource;
  }

  submit<T extends string | AnyTaskDefinition>(
    task: T,
    payload: PayloadOf<T>,
    options?: SubmitOptions & SubmitCallOptions,
  ): Promise<SubmittedOf<T>> {
    return this.#submits.submit(task, payload, options);
  }

  submitMany<T extends string | AnyTaskDefinition>(
    task: T,
    entries: readonly SubmitEntry<PayloadOf<T>>[],
    call?: SubmitCallOptions,
  ): Promise<SubmittedOf<T>[]> {
    return this.#submits.submitMany(task, entries, call);
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
    return transactionClient(this.#internals, tx);
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
    const { wait, id, rest } = splitCallTask(options);
    const submission = await this.#internals.submitter.begin({ task, payload, options: rest }, id);
    return callTask(this.#loop, submission, wait) as Promise<ResultOf<T>>;
  }

  wait<Payload, Result>(task: Task<Payload, Result>, options?: WaitOptions): Promise<Task<Payload, Result>>;
  wait(id: string, options?: WaitOptions): Promise<Task>;
  wait(task: string | Task, options?: WaitOptions): Promise<Task> {
    return this.#waits.wait(task as Task, options);
  }

  waitByKey<Payload = unknown, Result = unknown>(
    key: string,
    options?: WaitOptions,
  ): Promise<Task<Payload, Result>> {
    return this.#waits.waitByKey(key, options);
  }

  waitMany<Payload, Result>(
    tasks: readonly Task<Payload, Result>[],
    options?: WaitOptions,
  ): Promise<Task<Payload, Result>[]>;
  waitMany(ids: readonly (string | Task)[], options?: WaitOptions): Promise<Task[]>;
  waitMany(tasks: readonly (string | Task)[], options?: WaitOptions): Promise<Task[]> {
    return this.#waits.waitMany(tasks, options);
  }

  waitManyByKey<Payload = unknown, Result = unknown>(
    keys: readonly string[],
    options?: WaitOptions,
  ): Promise<Task<Payload, Result>[]> {
    return this.#waits.waitManyByKey(keys, options);
  }

  watch(task: string | Task, options?: WaitOptions): AsyncIterableIterator<TaskState> {
    return this.#waits.watch(task, options);
  }

  watchByKey(key: string, options?: WaitOptions): AsyncIterableIterator<TaskState> {
    return this.#waits.watchByKey(key, options);
  }

  get<Payload = unknown, Result = unknown>(
    id: string,
    call?: ReadCallOptions,
  ): Promise<Task<Payload, Result> | null>;
  get<T extends AnyTaskDefinition>(task: T, id: string, call?: ReadCallOptions): Promise<TaskOf<T> | null>;
  // biome-ignore lint/suspicious/noExplicitAny: the overloads say what it is
  get(...args: [any, any?, any?]): Promise<any> {
    return this.#reader.get(...args);
  }

  getByKey<Payload = unknown, Result = unknown>(
    key: string,
    call?: ReadCallOptions,
  ): Promise<Task<Payload, Result> | null>;
  getByKey<T extends AnyTaskDefinition>(
    task: T,
    key: string,
    call?: ReadCallOptions,
  ): Promise<TaskOf<T> | null>;
  // biome-ignore lint/suspicious/noExplicitAny: the overloads say what it is
  getByKey(...args: [any, any?, any?]): Promise<any> {
    return this.#reader.getByKey(...args);
  }

  getStatus(id: string, call?: ReadCallOptions): Promise<TaskState | null> {
    return this.#reader.getStatus(id, call);
  }

  getStatusByKey(key: string, call?: ReadCallOptions): Promise<TaskState | null> {
    return this.#reader.getStatusByKey(key, call);
  }

  failures(id: string, call?: ReadCallOptions): Promise<TaskFailure[]> {
    return this.#reader.failures(id, call);
  }

  list(options?: ListOptions, call?: ReadCallOptions): Promise<Task[]> {
    return this.#reader.list(options, call);
  }

  stats(queues?: readonly string[], call?: ReadCallOptions): Promise<Record<string, StatusCounts>> {
    return this.#reader.stats(queues, call);
  }

  queueDepth(queue: string, call?: ReadCallOptions): Promise<number> {
    return this.#reader.queueDepth(queue, call);
  }

  queueHeadroom(queue: string, maxDepth: number, call?: ReadCallOptions): Promise<number> {
    return this.#reader.queueHeadroom(queue, maxDepth, call);
  }

  cancel(id: string, call?: ReadCallOptions): Promise<CanceledTask | null> {
    return this.#controls.cancel(id, call);
  }

  cancelByKey(key: string, call?: ReadCallOptions): Promise<CanceledTask | null> {
    return this.#controls.cancelByKey(key, call);
  }

  retry(id: string, options?: RetryOptions, call?: ReadCallOptions): Promise<RetriedTask | null> {
    return this.#controls.retry(id, options, call);
  }

  retryByKey(key: string, options?: RetryOptions, call?: ReadCallOptions): Promise<RetriedTask | null> {
    return this.#controls.retryByKey(key, options, call);
  }

  purge(options: PurgeOptions, call?: ReadCallOptions): Promise<number> {
    return this.#controls.purge(options, call);
  }

  sweep(
    rules: readonly RetentionRule[],
    options?: SweepOptions,
    call?: ReadCallOptions,
  ): Promise<SweepResult> {
    return this.#controls.sweep(rules, options, call);
  }

  /**
   * Applies missing migrations. Not needed: the first operation that finds no tables does the same. What is
   * optional is applied only here. It ends after ten minutes unless `call` says otherwise.
   */
  async migrate(options?: MigrateOptions, call?: SubmitCallOptions): Promise<void> {
    return this.#internals.store.session.migrate(options, checkCall("migrate", call));
  }

  /** Closes what Wadi opened; waits that go on only poll from then on. The database client stays open. */
  async close(): Promise<void> {
    await this.#internals.notifier.close();
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
