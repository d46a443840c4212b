import { InvalidArgument } from "../core/errors/errors.ts";
import type { Executor } from "../core/executor.ts";
import type { CanceledTask, RetriedTask, SweepResult } from "../core/operations/control.ts";
import type { StatusCounts, TaskRef, TaskState } from "../core/operations/read.ts";
import type { CallOptions } from "../core/session/call-options.ts";
import type { Store } from "../core/session/store.ts";
import { isTerminal, TASK_STATUSES, type Task, type TaskFailure, type TaskStatus } from "../core/task.ts";
import { integer, oneOf, onlyKnown, optionalText, show, text } from "../core/validate.ts";
import { type AnyTaskDefinition, noDefinition } from "./define-task.ts";
import { Notifier } from "./notify/notifier.ts";
import { checkRetention, type RetentionRule } from "./retention.ts";
import { directCall } from "./submit/submit-call.ts";
import type { TaskOf } from "./task-types.ts";

/** Which tasks a `list` returns: those that fit all that is given. */
export interface ListOptions {
  /** @default any */
  readonly status?: TaskStatus | undefined;
  /** @default any */
  readonly queue?: string | undefined;
  /** @default any */
  readonly name?: string | undefined;
  /** Finds a task and all that descends from it. @default any */
  readonly rootId?: string | undefined;
  /** @default any */
  readonly correlationId?: string | undefined;
  /** Most tasks to return. From 1 to 1000. @default 50 */
  readonly limit?: number | undefined;
  /** How many of the newest tasks to leave out. Minimum `0`. @default 0 */
  readonly offset?: number | undefined;
}

export interface PurgeOptions {
  /** Only tasks that completed longer ago than this, in milliseconds. Minimum `0`. */
  readonly olderThanMs: number;
  /** @default any */
  readonly queue?: string | undefined;
  /** @default every one of them */
  readonly status?: "succeeded" | "failed" | "canceled" | undefined;
  /** @default any */
  readonly name?: string | undefined;
  /** Most tasks to delete in this call. From 1 to 100000. @default 1000 */
  readonly limit?: number | undefined;
}

export interface SweepOptions {
  /** Most tasks to delete for each rule and status. From 1 to 100000. @default 1000 */
  readonly limit?: number | undefined;
}

export interface RetryOptions {
  /** Gives the task all its attempts and crashes back; without it the retry is one more attempt. @default false */
  readonly resetAttempt?: boolean | undefined;
}

/** What may end a read or a control: the last argument of each. */
export type ReadCallOptions = Pick<CallOptions, "signal" | "deadlineMs">;

/** Reads and controls tasks, whoever submitted them. */
export class TaskAdmin {
  /** Every operation of the protocol, unchecked; what workers are built on. */
  readonly store: Store;
  /** Notifies of new and ended tasks, within this process and from a database that can be listened to. */
  readonly signals: Notifier;

  constructor(store: Store, database?: string) {
    this.store = store;
    this.signals = new Notifier(store.session.executor, database);
  }

  get executor(): Executor {
    return this.store.session.executor;
  }

  /**
   * Reads one task, null if there is none. With a definition it has the definition's types; else the types are the
   * caller's word for what the row holds.
   *
   * @throws {InvalidArgument} if the task is not one of the definition.
   */
  get<Payload = unknown, Result = unknown>(
    id: string,
    call?: ReadCallOptions,
  ): Promise<Task<Payload, Result> | null>;
  get<T extends AnyTaskDefinition>(task: T, id: string, call?: ReadCallOptions): Promise<TaskOf<T> | null>;
  // biome-ignore lint/suspicious/noExplicitAny: the overloads say what it is
  async get(...args: readonly unknown[]): Promise<any> {
    return this.#get(byId, args as unknown as ReadArguments);
  }

  /** `get` for the task a key points at. */
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
  async getByKey(...args: readonly unknown[]): Promise<any> {
    return this.#get(byKey, args as unknown as ReadArguments);
  }

  /** Reads only what changes while a task waits and runs: status, progress, message and attempt. */
  async getStatus(id: string, call?: ReadCallOptions): Promise<TaskState | null> {
    return this.store.getStatus(byId(id), directCall("getStatus", call));
  }

  async getStatusByKey(key: string, call?: ReadCallOptions): Promise<TaskState | null> {
    return this.store.getStatus(byKey(key), directCall("getStatusByKey", call));
  }

  /** The attempts of a task that failed or whose lease ran out, oldest first; empty also if there is no such task. */
  async failures(id: string, call?: ReadCallOptions): Promise<TaskFailure[]> {
    return this.store.failures(text("id", id), directCall("failures", call));
  }

  /** Lists tasks, newest first. */
  async list(options: ListOptions = {}, call?: ReadCallOptions): Promise<Task[]> {
    onlyKnown("list", options, ["status", "queue", "name", "rootId", "correlationId", "limit", "offset"]);
    const filter = {
      status: options.status === undefined ? null : oneOf("status", options.status, TASK_STATUSES),
      queue: optionalText("queue", options.queue),
      name: optionalText("name", options.name),
      root_id: optionalText("rootId", options.rootId),
      correlation_id: optionalText("correlationId", options.correlationId),
      max_tasks: integer("limit", options.limit ?? 50, 1, 1000),
      skip_tasks: integer("offset", options.offset ?? 0, 0),
    };
    return this.store.list(filter, directCall("list", call));
  }

  /** Counts tasks by queue and status. Queues that are asked for are always present. */
  async stats(queues?: readonly string[], call?: ReadCallOptions): Promise<Record<string, StatusCounts>> {
    if (queues !== undefined && !Array.isArray(queues))
      throw new InvalidArgument(`stats takes an array of queues, got ${show(queues)}`);
    return this.store.stats(queues?.map((queue) => text("queue", queue)) ?? null, directCall("stats", call));
  }

  /** Counts the queued tasks of a queue, due or not. Reads no other tasks. */
  async queueDepth(queue: string, call?: ReadCallOptions): Promise<number> {
    return this.store.queueDepth(text("queue", queue), directCall("queueDepth", call));
  }

  /** How many more tasks the queue takes before `maxDepth` are queued. Reads at most `maxDepth` rows. */
  async queueHeadroom(queue: string, maxDepth: number, call?: ReadCallOptions): Promise<number> {
    return this.store.queueHeadroom(
      text("queue", queue),
      integer("maxDepth", maxDepth, 1, 1_000_000),
      directCall("queueHeadroom", call),
    );
  }

  /**
   * Cancels a queued task at once, asks a running one to stop, and returns it; null if there is none. `outcome` says what
   * was done: `unchanged` if it had ended, or was asked before.
   */
  async cancel(id: string, call?: ReadCallOptions): Promise<CanceledTask | null> {
    return this.#cancel(byId(id), call);
  }

  async cancelByKey(key: string, call?: ReadCallOptions): Promise<CanceledTask | null> {
    return this.#cancel(byKey(key), call);
  }

  /**
   * Queues a failed or canceled task again and returns it; null if there is none. `outcome` is `unchanged` if it is queued
   * or running, or has succeeded. A newer task keeps the key that it took: then this one runs without, and `key` is null.
   */
  async retry(id: string, options: RetryOptions = {}, call?: ReadCallOptions): Promise<RetriedTask | null> {
    return this.#retry(byId(id), options, call);
  }

  async retryByKey(
    key: string,
    options: RetryOptions = {},
    call?: ReadCallOptions,
  ): Promise<RetriedTask | null> {
    return this.#retry(byKey(key), options, call);
  }

  /** Deletes terminal tasks, oldest first, with their keys, and returns how many. */
  async purge(options: PurgeOptions, call?: ReadCallOptions): Promise<number> {
    if (options === undefined)
      throw new InvalidArgument(
        "purge takes { olderThanMs }, and { olderThanMs: 0 } deletes all that is finished",
      );
    onlyKnown("purge", options, ["olderThanMs", "queue", "status", "name", "limit"]);
    const filter = {
      older_than_ms: integer("olderThanMs", options.olderThanMs, 0),
      queue: optionalText("queue", options.queue),
      status: options.status === undefined ? null : oneOf("status", options.status, TASK_STATUSES.slice(2)),
      name: optionalText("name", options.name),
      max_tasks: integer("limit", options.limit ?? 1000, 1, 100_000),
    };
    return this.store.purge(filter, directCall("purge", call));
  }

  /**
   * Deletes the finished tasks that no rule keeps any longer, with their keys and history, in one round trip.
   * For each rule and status it stops at `limit`; `more` says that another sweep would find more.
   *
   * @throws {InvalidArgument} naming the option of a rule that is wrong.
   */
  async sweep(
    rules: readonly RetentionRule[],
    options: SweepOptions = {},
    call?: ReadCallOptions,
  ): Promise<SweepResult> {
    onlyKnown("sweep", options, ["limit"]);
    const limit = integer("limit", options.limit ?? 1000, 1, 100_000);
    return this.store.sweep(checkRetention(rules), { limit }, directCall("sweep", call));
  }

  async #get(refOf: (name: string) => TaskRef, args: ReadArguments): Promise<Task | null> {
    if (!isWithDefinition(args)) return this.store.get(refOf(args[0]), directCall("get", args[1]));
    const [definition, name, call] = args;
    if (definition.payload === undefined) throw noDefinition(definition);
    const task = await this.store.get(refOf(name), directCall("get", call));
    if (task === null || task.name === definition.name) return task;
    throw new InvalidArgument(
      `task ${task.id} is one of "${task.name}", not of "${definition.name}"; pass the definition of that name, or none`,
    );
  }

  async #cancel(ref: TaskRef, call?: ReadCallOptions): Promise<CanceledTask | null> {
    const task = await this.store.cancel(ref, directCall("cancel", call));
    if (task === null) return null;
    if (isTerminal(task.status)) this.signals.done([task.id]);
    else if (task.cancelRequestedAtMs !== null) this.signals.canceled([task.id]);
    return task;
  }

  async #retry(ref: TaskRef, options: RetryOptions, call?: ReadCallOptions): Promise<RetriedTask | null> {
    onlyKnown("retry", options, ["resetAttempt"]);
    const { resetAttempt = false } = options;
    if (typeof resetAttempt !== "boolean") {
      throw new InvalidArgument(`resetAttempt must be true or false, got ${show(resetAttempt)}`);
    }
    const task = await this.store.retry(ref, resetAttempt, directCall("retry", call));
    if (task?.status === "queued") this.signals.queued([task.queue]);
    return task;
  }
}

type ReadArguments =
  | [name: string, call?: ReadCallOptions]
  | [AnyTaskDefinition, name: string, call?: ReadCallOptions];

function isWithDefinition(
  args: ReadArguments,
): args is Extract<ReadArguments, [AnyTaskDefinition, ...unknown[]]> {
  return typeof args[0] === "object" && args[0] !== null;
}

export function byId(id: string): TaskRef {
  return { id: text("id", id) };
}

export function byKey(key: string): TaskRef {
  return { key: text("key", key) };
}

/** @throws {InvalidArgument} naming the method, if it is neither a task nor the id of one. */
export function byTask(method: string, task: string | Task): TaskRef {
  if (typeof task === "string") return byId(task);
  if (typeof task?.id === "string") return byId(task.id);
  const found = typeof task === "object" && task !== null ? "an object without an id" : show(task);
  throw new InvalidArgument(`${method} takes a task or its id, got ${found}`);
}
