/** The types of handlers, and of the context that each call gets. */

import type { Task } from "../core/task.ts";
import type { AnyTaskDefinition, TaskDefinition } from "../producer/define-task.ts";
import type { SubmitOptions } from "../producer/submit/submit-options.ts";
import type { PayloadOf, SubmittedOf } from "../producer/task-types.ts";
import type { FailOptions } from "./handler/ctx-fail.ts";
import type { SettledTask } from "./handler/settled-task.ts";

/**
 * A statement of the application: SQL with the placeholders of the database (`?` on SQLite, `$1` on Postgres), a
 * query builder's query that has `toSQL()` (Drizzle), or a statement of the database client: a prepared statement of
 * D1, a query of the Neon driver, `{ sql, args }` of libSQL.
 */
export type UserStatement =
  | { readonly sql: string; readonly params?: readonly unknown[] | undefined }
  | { toSQL(): { readonly sql: string; readonly params: readonly unknown[] } }
  | object;

/** The result argument of `succeedWith`; optional if the result may be null. */
export type ResultArgument<Result> = undefined extends Result
  ? [result?: Result]
  : null extends Result
    ? [result?: Result]
    : [result: Result];

/** The argument of a handler: the task, its validated payload, and ways to report progress and to end the attempt. */
export interface TaskContext<Payload = unknown, Result = unknown> {
  /** The payload, in its JSON form, as the schema of the definition returns it. */
  readonly payload: Payload;
  /** The task as it was claimed: ids, attempt, metadata, times. */
  readonly task: Task;
  /** Id of the task. */
  readonly id: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /**
   * Aborts at the deadline, when a cancel was requested, and when the lease is lost. The worker learns of a cancel by
   * a notification, a heartbeat, a progress report or a poll every `cancelPollMs`, and of a lost lease by any request
   * for the task.
   */
  readonly signal: AbortSignal;
  /**
   * When the time of the attempt is up and `signal` aborts: after its `maxRunMs`, or shortly before the drain must be
   * over, whichever is first. Null if its time is not limited. It may move by some milliseconds, since the drain keeps
   * as much time to store outcomes as its last requests to the database took.
   */
  readonly deadline: Date | null;
  /**
   * Milliseconds until `deadline`, never negative; `Infinity` if the time is not limited.
   *
   * @example
   * ```ts
   * if (context.remainingMs() < 5_000) context.fail("not enough time for another page");
   * ```
   */
  remainingMs(): number;
  /** True once the worker has learned that a cancel was requested. */
  readonly canceled: boolean;
  /** True once another worker may have the task: the outcome of this attempt is not stored any more. */
  readonly lostLease: boolean;
  /**
   * Reports progress (a number from 0 to 1; null leaves it unchanged) and a message, in one round trip.
   *
   * @throws {InvalidArgument} for any other value.
   * @throws {LostLease} if another worker may have the task now: stop.
   * @example
   * ```ts
   * await context.progress(0.5, "half of the rows");
   * ```
   */
  progress(value: number | null, message?: string): Promise<void>;
  /**
   * Extends the lease and asks whether a cancel was requested, in one round trip. For handlers that want to know
   * sooner than by the worker's heartbeats and polls.
   *
   * @throws {LostLease} if another worker may have the task now: stop.
   */
  heartbeat(): Promise<{ readonly canceled: boolean }>;
  /** Ends the attempt with this result at once, and returns it; the return value of the handler is then ignored. */
  succeed(result: Result): Result;
  /**
   * Commits your statements together with the success of the task, in one round trip: all of it, or nothing. Then the
   * attempt has ended; return its result from the handler. If the answer is lost it is sent again, and takes effect
   * once.
   *
   * Statements are `{ sql, params }` with the placeholders of the database, queries with `toSQL()` (Drizzle), or
   * statements of the database client (D1, Neon, libSQL). They run in order in one transaction, so none may begin or
   * end one.
   *
   * @throws {LostLease} if the lease is lost, {TaskCanceled} if a cancel was requested. Nothing is written: stop.
   * @throws {DriverError} if the database refuses a statement. Nothing is written, and the attempt goes on.
   * @throws {InvalidArgument} | {SerializationError} | {TaskError} for a statement or result that cannot be sent.
   * @example
   * ```ts
   * const insert = { sql: "insert into images (url) values (?)", params: [context.payload.url] };
   * const result = await context.succeedWith([insert], { bytes: 1024 });
   * ```
   */
  succeedWith(statements: readonly UserStatement[], ...result: ResultArgument<Result>): Promise<Result>;
  /**
   * Ends the attempt as failed at once. The reason is a message, an Error (as if it had been thrown) or an error
   * envelope `{ type, code, message, retryable, details }`; the options override its fields.
   *
   * @throws {InvalidArgument} for any other reason, or an unknown option. The attempt goes on.
   * @example
   * ```ts
   * context.fail("no source records", { retryable: false });
   * ```
   */
  fail(reason: unknown, options?: FailOptions): void;
  /**
   * Ends the attempt, and queues the task again so that it is due in `delayMs` milliseconds, from 1 on. No attempt is
   * spent: the next one has the same number. What the handler returns or throws afterwards is ignored. In a batch
   * handler it ends only the task of this context. A requested cancel takes precedence.
   *
   * The task keeps its key, payload, metadata, last error and crashes; progress and message are cleared. Nothing bounds
   * how often a task is snoozed. It returns nothing; its type lets a handler write `return context.snooze(60_000)`.
   *
   * @throws {InvalidArgument} for another delay. The attempt goes on.
   * @example
   * ```ts
   * const response = await fetch(context.payload.url);
   * if (response.status === 429) context.snooze(60_000);
   * ```
   */
  snooze(delayMs: number): Result;
  /**
   * Resolves when the database has the outcome that `succeed`, `fail`, `snooze` or `succeedWith` gave, with the task as
   * it is then: its `status` is `succeeded`, `failed` or `queued` (to run again); `canceled` if a cancel came first,
   * `lostLease` if the lease was lost and nothing is stored. One round trip; it never rejects. Await it only after
   * one of those calls: before, the handler would wait for itself.
   */
  readonly settled: Promise<SettledTask<Payload, Result>>;
  /**
   * Submits a child task. Its parent, root and correlation id are set.
   *
   * @example
   * ```ts
   * await context.submit("mail", { url: context.payload.url });
   * ```
   */
  submit<T extends string | AnyTaskDefinition>(
    task: T,
    payload: PayloadOf<T>,
    options?: SubmitOptions,
  ): Promise<SubmittedOf<T>>;
}

/** Runs one attempt. Its return value is the result of the task; an error that it throws fails the attempt. */
export type Handler<Payload = unknown, Result = unknown> = (
  context: TaskContext<Payload, Result>,
) => Result | Promise<Result>;

/** The handler of a task, typed by its definition. */
export type HandlerOf<T> = [T] extends [never]
  ? Handler
  : T extends TaskDefinition<infer _Input, infer Payload, infer Result>
    ? Handler<Payload, Result>
    : Handler;

/** The batch handler of a task, typed by its definition. */
export type BatchHandlerOf<T> = [T] extends [never]
  ? BatchHandler
  : T extends TaskDefinition<infer _Input, infer Payload, infer Result>
    ? BatchHandler<Payload, Result>
    : BatchHandler;

/** Results by task id. A task without an entry succeeds with null. */
export type BatchResults<Result = unknown> = ReadonlyMap<string, Result> | { readonly [id: string]: Result };

/**
 * Runs many attempts of one name in one call. When it returns, each task that it did not end itself succeeds; when it
 * throws, each of those fails as if it had run alone.
 */
export type BatchHandler<Payload = unknown, Result = unknown> = (
  contexts: readonly TaskContext<Payload, Result>[],
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing must be let in
) => BatchResults<Result> | void | Promise<BatchResults<Result> | void>;
