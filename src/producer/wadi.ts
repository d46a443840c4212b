/** The client that producers use, and that workers are made with. */
import { InvalidArgument } from "../core/errors/errors.ts";
import type { Executor } from "../core/executor.ts";
import type { MigrateOptions } from "../core/migrations/migrate.ts";
import type { CanceledTask, RetriedTask, SweepResult } from "../core/operations/control.ts";
import type { Pause } from "../core/operations/pause.ts";
import type { StatusCounts, TaskState } from "../core/operations/read.ts";
import type { Session } from "../core/session/session.ts";
import type { Task, TaskFailure } from "../core/task.ts";
import { onlyKnown } from "../core/validate.ts";
import { type CallOptions, checkCall, type SubmitCallOptions, splitCall } from "./call-options.ts";
import type { ClearOptions, ClearResult, DatabaseControls } from "./database-controls.ts";
import type { AnyTaskDefinition } from "./define-task.ts";
import { setInternals, type WadiInternals } from "./internals.ts";
import { makeInternals } from "./make-internals.ts";
import type { WakeSource } from "./notify/channel-connection.ts";
import { ScheduleControls } from "./schedules/schedule-controls.ts";
import type { Schedules } from "./schedules/schedules.ts";
import { adopt, clear, migrateAndStoreScope } from "./scope.ts";
import { SUBMIT_OPTIONS, type SubmitEntry, type SubmitOptions } from "./submit/submit-options.ts";
import type { Submitter } from "./submit/submitter.ts";
import type { TaskSubmits } from "./submit/task-submits.ts";
import type { PayloadOf, ResultOf, SubmittedOf, TaskOf } from "./task-types.ts";
import { changeMany } from "./tasks/bulk.ts";
import type { BulkResult } from "./tasks/bulk-run.ts";
import type { PauseTarget, TaskPauses } from "./tasks/pauses.ts";
import * as pauses from "./tasks/pauses.ts";
import type { PurgeOptions, RetryOptions, TaskControls } from "./tasks/task-controls.ts";
import * as controls from "./tasks/task-controls.ts";
import type { ListOptions, TaskReads } from "./tasks/task-reads.ts";
import * as reads from "./tasks/task-reads.ts";
import { byId, byKey, byTask, type RefArguments } from "./tasks/task-ref.ts";
import { type StatementBuilder, statementBuilder } from "./transactional/batch.ts";
import { type TransactionClient, transactionClient } from "./transactional/transaction.ts";
import { WADI_OPTIONS, type WadiOptions } from "./wadi-options.ts";
import { callTask, splitCallTask } from "./wait/call.ts";
import { OpenWaits } from "./wait/open-waits.ts";
import type { TaskWaits } from "./wait/task-waits.ts";
import { waitForKey, waitForTask } from "./wait/wait.ts";
import { namesOf, waitForTasks } from "./wait/wait-many.ts";
import { type CallTaskOptions, checkWait, type WaitOptions } from "./wait/wait-options.ts";
import { watchTask } from "./wait/watch.ts";

/**
 * The producer's side: submits tasks, reads and controls them, and waits for their results. `Native` and `Sync` come
 * from the executor: the type of its client's statements, and whether its open transactions are synchronous.
 *
 * @example
 * ```ts
 * import { Wadi } from "wadi";
 * import { betterSqlite3 } from "wadi/better-sqlite3";
 *
 * const wadi = new Wadi(betterSqlite3(db));
 * ```
 */
export class Wadi<Native = unknown, Sync extends boolean = boolean>
  implements TaskSubmits, TaskWaits, TaskReads, TaskControls, TaskPauses, DatabaseControls
{
  /** Makes statements that you send in a batch, together with statements for your rows. */
  readonly statements: StatementBuilder<Native>;
  /** Sets, lists and controls schedules. */
  readonly schedules: Schedules;
  readonly #internals: WadiInternals;
  readonly #session: Session;
  readonly #submitter: Submitter;
  readonly #waits: OpenWaits;

  constructor(executor: Executor<Native, Sync>, options: WadiOptions = {}) {
    onlyKnown("new Wadi", options, WADI_OPTIONS);
    if (executor?.protocol === undefined) {
      throw new InvalidArgument("new Wadi takes an executor, such as betterSqlite3(db)");
    }
    this.#internals = makeInternals(executor, options);
    setInternals(this, this.#internals);
    this.statements = statementBuilder(this.#internals);
    this.schedules = new ScheduleControls(this.#internals);
    const { session, submitter, notifier } = this.#internals;
    this.#session = session;
    this.#submitter = submitter;
    this.#waits = new OpenWaits(session, notifier);
  }

  /** The executor that was passed to the constructor. */
  get executor(): Executor {
    return this.#internals.executor;
  }

  /**
   * What wakes waits and workers before they poll: the database too (`listening`), or this process alone (`local`, and
   * `polling` while the connection that listens to the database is lost).
   */
  get wakeSource(): WakeSource {
    return this.#internals.notifier.wakeSource;
  }

  async submit<T extends string | AnyTaskDefinition>(
    task: T,
    payload: PayloadOf<T>,
    options?: SubmitOptions & SubmitCallOptions,
  ): Promise<SubmittedOf<T>> {
    const { call, rest } = splitCall("submit", options, SUBMIT_OPTIONS);
    return this.#submitter.submit({ task, payload, options: rest }, call) as Promise<SubmittedOf<T>>;
  }

  async submitMany<T extends string | AnyTaskDefinition>(
    task: T,
    entries: readonly SubmitEntry<PayloadOf<T>>[],
    call?: SubmitCallOptions,
  ): Promise<SubmittedOf<T>[]> {
    const submitted = this.#submitter.submitMany(task, entries, checkCall("submitMany", call));
    return submitted as Promise<SubmittedOf<T>[]>;
  }

  /**
   * Submits and cancels as a part of your open transaction: a node-pg client after `BEGIN`, a better-sqlite3 handle
   * inside of `db.transaction(() => ...)`, a transaction of libSQL, PGlite or Drizzle.
   *
   * The tables must exist; run `migrate()` when the program starts. If the client is synchronous, so are the methods.
   * Workers of the same `Wadi` may poll for the tasks before you commit; they find them at a later poll.
   *
   * @throws {InvalidArgument} if no transaction is open on `tx`.
   * @throws {Unsupported} where there is none, as on D1 and Neon over HTTP: use `statements`.
   * @example db.transaction(() => wadi.with(db).submit("invoice", { order: 7 }))();
   */
  with(tx: unknown): TransactionClient<Sync> {
    return transactionClient(this.#internals, tx);
  }

  async call<T extends string | AnyTaskDefinition>(
    task: T,
    payload: PayloadOf<T>,
    options: SubmitOptions & CallTaskOptions = {},
  ): Promise<ResultOf<T>> {
    const { wait, id, rest } = splitCallTask(options);
    const submission = await this.#submitter.begin({ task, payload, options: rest }, id);
    return callTask(this.#waits, submission, wait) as Promise<ResultOf<T>>;
  }

  wait<Payload, Result>(task: Task<Payload, Result>, options?: WaitOptions): Promise<Task<Payload, Result>>;
  wait(id: string, options?: WaitOptions): Promise<Task>;
  async wait(task: string | Task, options?: WaitOptions): Promise<Task> {
    return waitForTask(this.#waits, byTask("wait", task), checkWait(options));
  }

  waitByKey<Payload = unknown, Result = unknown>(
    key: string,
    options?: WaitOptions,
  ): Promise<Task<Payload, Result>>;
  waitByKey<T extends AnyTaskDefinition>(task: T, key: string, options?: WaitOptions): Promise<TaskOf<T>>;
  // biome-ignore lint/suspicious/noExplicitAny: the overloads say what it is
  async waitByKey(...args: readonly unknown[]): Promise<any> {
    return waitForKey(this.#waits, args as unknown as RefArguments<WaitOptions>);
  }

  waitMany<Payload, Result>(
    tasks: readonly Task<Payload, Result>[],
    options?: WaitOptions,
  ): Promise<Task<Payload, Result>[]>;
  waitMany(ids: readonly (string | Task)[], options?: WaitOptions): Promise<Task[]>;
  async waitMany(tasks: readonly (string | Task)[], options?: WaitOptions): Promise<Task[]> {
    const ids = namesOf("waitMany", "id", tasks, (task) => (typeof task === "string" ? task : task?.id));
    return waitForTasks(this.#waits, ids, false, checkWait(options, "waitMany"));
  }

  async waitManyByKey<Payload = unknown, Result = unknown>(
    keys: readonly string[],
    options?: WaitOptions,
  ): Promise<Task<Payload, Result>[]> {
    const names = namesOf("waitManyByKey", "key", keys, (key) => key);
    const tasks = waitForTasks(this.#waits, names, true, checkWait(options, "waitManyByKey"));
    return tasks as Promise<Task<Payload, Result>[]>;
  }

  watch(task: string | Task, options?: WaitOptions): AsyncIterableIterator<TaskState> {
    return watchTask(this.#waits, byTask("watch", task), checkWait(options, "watch"));
  }

  watchByKey(key: string, options?: WaitOptions): AsyncIterableIterator<TaskState> {
    return watchTask(this.#waits, byKey(key), checkWait(options, "watchByKey"));
  }

  get<Payload = unknown, Result = unknown>(
    id: string,
    call?: CallOptions,
  ): Promise<Task<Payload, Result> | null>;
  get<T extends AnyTaskDefinition>(task: T, id: string, call?: CallOptions): Promise<TaskOf<T> | null>;
  // biome-ignore lint/suspicious/noExplicitAny: the overloads say what it is
  async get(...args: readonly unknown[]): Promise<any> {
    return reads.readTask(this.#session, byId, args as unknown as RefArguments<CallOptions>);
  }

  getByKey<Payload = unknown, Result = unknown>(
    key: string,
    call?: CallOptions,
  ): Promise<Task<Payload, Result> | null>;
  getByKey<T extends AnyTaskDefinition>(task: T, key: string, call?: CallOptions): Promise<TaskOf<T> | null>;
  // biome-ignore lint/suspicious/noExplicitAny: the overloads say what it is
  async getByKey(...args: readonly unknown[]): Promise<any> {
    return reads.readTask(this.#session, byKey, args as unknown as RefArguments<CallOptions>);
  }

  async getStatus(id: string, call?: CallOptions): Promise<TaskState | null> {
    return reads.readStatus(this.#session, byId(id), "getStatus", call);
  }

  async getStatusByKey(key: string, call?: CallOptions): Promise<TaskState | null> {
    return reads.readStatus(this.#session, byKey(key), "getStatusByKey", call);
  }

  async failures(id: string, call?: CallOptions): Promise<TaskFailure[]> {
    return reads.readFailures(this.#session, id, call);
  }

  async list(options: ListOptions = {}, call?: CallOptions): Promise<Task[]> {
    return reads.listTasks(this.#session, options, call);
  }

  async stats(queues?: readonly string[], call?: CallOptions): Promise<Record<string, StatusCounts>> {
    return reads.countTasks(this.#session, queues, call);
  }

  async queueDepth(queue: string, call?: CallOptions): Promise<number> {
    return reads.countQueued(this.#session, queue, call);
  }
  async queueHeadroom(queue: string, maxDepth: number, call?: CallOptions): Promise<number> {
    return reads.countRoom(this.#session, queue, maxDepth, call);
  }

  async cancel(id: string, call?: CallOptions): Promise<CanceledTask | null> {
    return controls.cancelAndNotify(this.#internals, byId(id), call);
  }

  async cancelByKey(key: string, call?: CallOptions): Promise<CanceledTask | null> {
    return controls.cancelAndNotify(this.#internals, byKey(key), call);
  }

  async retry(id: string, options?: RetryOptions, call?: CallOptions): Promise<RetriedTask | null> {
    return controls.retryAndNotify(this.#internals, byId(id), options, call);
  }

  async retryByKey(key: string, options?: RetryOptions, call?: CallOptions): Promise<RetriedTask | null> {
    return controls.retryAndNotify(this.#internals, byKey(key), options, call);
  }

  cancelMany(...args: Parameters<TaskControls["cancelMany"]>): Promise<BulkResult> {
    return changeMany(this.#internals, "cancel", ...args);
  }

  retryMany(...args: Parameters<TaskControls["retryMany"]>): Promise<BulkResult> {
    return changeMany(this.#internals, "retry", ...args);
  }

  purgeMany(...args: Parameters<TaskControls["purgeMany"]>): Promise<BulkResult> {
    return changeMany(this.#internals, "purge", ...args);
  }

  async purge(options: PurgeOptions, call?: CallOptions): Promise<number> {
    return controls.purge(this.#session, options, call);
  }

  async sweep(...args: Parameters<TaskControls["sweep"]>): Promise<SweepResult> {
    return controls.sweep(this.#session, ...args);
  }

  async pause(target: PauseTarget, call?: CallOptions): Promise<Pause> {
    return pauses.pause(this.#session, target, call);
  }

  async resume(target: PauseTarget, call?: CallOptions): Promise<Pause[]> {
    return pauses.resumeAndNotify(this.#internals, target, call);
  }

  async pauses(target?: PauseTarget, call?: CallOptions): Promise<Pause[]> {
    return pauses.listPausesOf(this.#session, target, call);
  }

  async migrate(options?: MigrateOptions, call?: SubmitCallOptions): Promise<void> {
    return migrateAndStoreScope(this.#session, options, checkCall("migrate", call));
  }

  async adopt(call?: CallOptions): Promise<void> {
    return adopt(this.#session, call);
  }

  async clear(options?: ClearOptions, call?: CallOptions): Promise<ClearResult> {
    return clear(this.#session, options, call);
  }

  /**
   * Closes the connections that Wadi opened; open waits continue by polling. The database client stays open.
   *
   * @example await wadi.close();
   */
  async close(): Promise<void> {
    await this.#internals.notifier.close();
    await this.executor.close();
  }
}
