/** Reading tasks: what a `Wadi` offers, and the checks behind it. */
import { type CompleteChecks, checkOptions, integerFrom, optional } from "../../core/check-options.ts";
import { InvalidArgument } from "../../core/errors/errors.ts";
import {
  getStatus,
  getTask,
  type ListFilter,
  listFailures,
  queueDepth,
  queueHeadroom,
  type StatusCounts,
  stats,
  type TaskRef,
  type TaskState,
} from "../../core/operations/read.ts";
import { listTasksByHalves } from "../../core/session/read-by-halves.ts";
import type { Session } from "../../core/session/session.ts";
import { TASK_STATUSES, type Task, type TaskFailure, type TaskStatus } from "../../core/task.ts";
import { integer, oneOf, optionalText, show, text } from "../../core/validate.ts";
import { type CallOptions, directCall } from "../call-options.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import type { TaskOf } from "../task-types.ts";
import { byId, ofDefinition, type RefArguments, splitRef } from "./task-ref.ts";

/** The methods of a `Wadi` that read tasks and count them. */
export interface TaskReads {
  /**
   * Reads one task, null if there is none. With a definition the task has its types; without one the types are an
   * unchecked claim of the caller.
   *
   * @throws {InvalidArgument} if the task is not one of the definition.
   * @example
   * ```ts
   * const image = await wadi.get(resize, "01JD2F7ZK3V7M2T6B8QW9X4C5E");
   * console.log(image?.result?.bytes);
   * ```
   */
  get<Payload = unknown, Result = unknown>(
    id: string,
    call?: CallOptions,
  ): Promise<Task<Payload, Result> | null>;
  get<T extends AnyTaskDefinition>(task: T, id: string, call?: CallOptions): Promise<TaskOf<T> | null>;

  /**
   * `get` for the task a key points at.
   *
   * @example
   * ```ts
   * const image = await wadi.getByKey(resize, "image:a");
   * ```
   */
  getByKey<Payload = unknown, Result = unknown>(
    key: string,
    call?: CallOptions,
  ): Promise<Task<Payload, Result> | null>;
  getByKey<T extends AnyTaskDefinition>(task: T, key: string, call?: CallOptions): Promise<TaskOf<T> | null>;

  /**
   * Reads only what changes while a task waits and runs: status, progress, message and attempt.
   *
   * @example
   * ```ts
   * const state = await wadi.getStatus("01JD2F7ZK3V7M2T6B8QW9X4C5E");
   * ```
   */
  getStatus(id: string, call?: CallOptions): Promise<TaskState | null>;
  /**
   * `getStatus` for the task a key points at.
   *
   * @example
   * ```ts
   * const state = await wadi.getStatusByKey("image:a");
   * ```
   */
  getStatusByKey(key: string, call?: CallOptions): Promise<TaskState | null>;

  /**
   * The attempts of a task that failed or whose lease expired, oldest first; empty also if there is no such task.
   *
   * @example
   * ```ts
   * for (const { attempt, kind, error } of await wadi.failures("01JD2F7ZK3V7M2T6B8QW9X4C5E")) {
   *   console.log(attempt, kind, error.message);
   * }
   * ```
   */
  failures(id: string, call?: CallOptions): Promise<TaskFailure[]>;

  /**
   * Lists tasks, newest first.
   *
   * @example
   * ```ts
   * const failed = await wadi.list({ status: "failed", name: "mail", limit: 100 });
   * ```
   */
  list(options?: ListOptions, call?: CallOptions): Promise<Task[]>;

  /**
   * Counts tasks by queue and status. Queues that are asked for are always present.
   *
   * @example
   * ```ts
   * const { mail } = await wadi.stats(["mail"]);
   * console.log(mail?.queued, mail?.running);
   * ```
   */
  stats(queues?: readonly string[], call?: CallOptions): Promise<Record<string, StatusCounts>>;

  /**
   * Counts the queued tasks of a queue, due or not. Reads no other tasks.
   *
   * @example
   * ```ts
   * const waiting = await wadi.queueDepth("mail");
   * ```
   */
  queueDepth(queue: string, call?: CallOptions): Promise<number>;

  /**
   * How many more tasks the queue takes before `maxDepth` are queued. Reads at most `maxDepth` rows.
   *
   * @example
   * ```ts
   * if ((await wadi.queueHeadroom("mail", 10_000)) === 0) console.warn("the queue is full");
   * ```
   */
  queueHeadroom(queue: string, maxDepth: number, call?: CallOptions): Promise<number>;
}

/** Which tasks a `list` returns: those that match every given option. */
export interface ListOptions {
  /** Only tasks of this status. @default any */
  readonly status?: TaskStatus | undefined;
  /** Only tasks of this queue. @default any */
  readonly queue?: string | undefined;
  /** Only tasks of this name. @default any */
  readonly name?: string | undefined;
  /** Only this task and its descendants. @default any */
  readonly rootId?: string | undefined;
  /** Only tasks of this correlation id. @default any */
  readonly correlationId?: string | undefined;
  /** Most tasks to return. From 1 to 1000. @default 50 */
  readonly limit?: number | undefined;
  /** How many of the newest tasks to leave out. Minimum `0`. @default 0 */
  readonly offset?: number | undefined;
}

const LIST = {
  status: optional((option, value) => oneOf(option, value, TASK_STATUSES)),
  queue: optionalText,
  name: optionalText,
  rootId: optionalText,
  correlationId: optionalText,
  limit: integerFrom(1, 1000, 50),
  offset: integerFrom(0, undefined, 0),
} satisfies CompleteChecks<ListOptions>;

function checkList(options: ListOptions): ListFilter {
  const { rootId, correlationId, limit, offset, ...filter } = checkOptions("list", options, LIST);
  return { ...filter, root_id: rootId, correlation_id: correlationId, max_tasks: limit, skip_tasks: offset };
}

function checkQueues(queues: readonly string[] | undefined): readonly string[] | null {
  if (queues === undefined) return null;
  if (!Array.isArray(queues))
    throw new InvalidArgument(`stats takes an array of queues, got ${show(queues)}`);
  return queues.map((queue) => text("queue", queue));
}

/** @throws {InvalidArgument} naming the option that is out of range. */
export function listTasks(session: Session, options: ListOptions, call?: CallOptions): Promise<Task[]> {
  return listTasksByHalves(session, checkList(options), directCall("list", call));
}

/** @throws {InvalidArgument} if `queues` is not a list of names. */
export function countTasks(
  session: Session,
  queues: readonly string[] | undefined,
  call?: CallOptions,
): Promise<Record<string, StatusCounts>> {
  return session.execute(stats(session.target, checkQueues(queues)), directCall("stats", call));
}

/** @throws {InvalidArgument} if `queue` is no name. */
export function countQueued(session: Session, queue: string, call?: CallOptions): Promise<number> {
  if (typeof call === "number") {
    throw new InvalidArgument(
      "queueDepth takes no limit; the room below one is queueHeadroom(queue, maxDepth)",
    );
  }
  return session.execute(queueDepth(session.target, text("queue", queue)), directCall("queueDepth", call));
}

/** @throws {InvalidArgument} if `queue` is no name, or `maxDepth` is out of range. */
export function countRoom(
  session: Session,
  queue: string,
  maxDepth: number,
  call?: CallOptions,
): Promise<number> {
  text("queue", queue);
  integer("maxDepth", maxDepth, 1, 1_000_000);
  return session.execute(queueHeadroom(session.target, queue, maxDepth), directCall("queueHeadroom", call));
}

export function readStatus(
  session: Session,
  ref: TaskRef,
  method: string,
  call?: CallOptions,
): Promise<TaskState | null> {
  return session.execute(getStatus(session.target, ref), directCall(method, call));
}

/** @throws {InvalidArgument} if `id` is no id. */
export function readFailures(session: Session, id: string, call?: CallOptions): Promise<TaskFailure[]> {
  return session.execute(listFailures(session.target, byId(id).id), directCall("failures", call));
}

/**
 * Reads the task of an id or key, checked to be one of the definition if there is one.
 *
 * @param refOf Checks the id or the key.
 * @throws {InvalidArgument} if the task has another name.
 */
export async function readTask(
  session: Session,
  refOf: (ref: string) => TaskRef,
  args: RefArguments<CallOptions>,
): Promise<Task | null> {
  const { definition, ref, options } = splitRef(args);
  const task = await session.execute(getTask(session.target, refOf(ref)), directCall("get", options));
  return task === null ? null : ofDefinition(task, definition);
}
