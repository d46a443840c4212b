/** The hooks that an application can give a worker, the events and errors they get, and how they are called. */

import type { ErrorEnvelope, Task, TaskStatus } from "../core/task.ts";
import type { DrainSummary } from "./drain-summary.ts";
import { type Logger, lateErrorLine, log, scheduleErrorLine } from "./logger.ts";
import type { TaskContext } from "./task-context.ts";

/** The task an event is about. */
export interface TaskEvent {
  /** Id of the task. */
  readonly id: string;
  /** Name of the task. */
  readonly name: string;
  /** Queue of the task. */
  readonly queue: string;
  /** Number of the attempt. */
  readonly attempt: number;
}

/** When a task was claimed. */
export interface ClaimTiming {
  /** From its due time to its claim, in milliseconds of the database's clock. */
  readonly queuedMs: number;
}

/** When it was claimed, and how long its attempt took. */
export interface RunTiming extends ClaimTiming {
  /** From the start of the handler to the end of the attempt, in milliseconds; 0 if it never started. */
  readonly durationMs: number;
}

/**
 * Something that happened in a worker; `type` says what. An attempt has the events `claimed`, then `started`, then
 * one of `succeeded`, `failed`, `retried`, `snoozed`, `canceled`, `released` and `lostLease`, each after the database
 * has stored it.
 */
export type WorkerEvent =
  | (TaskEvent & ClaimTiming & { readonly type: "claimed" })
  | (TaskEvent & ClaimTiming & { readonly type: "started" })
  | (TaskEvent & RunTiming & { readonly type: "succeeded" })
  /** Failed for good. */
  | (TaskEvent & RunTiming & { readonly type: "failed"; readonly error: ErrorEnvelope })
  /** Failed, and queued again. */
  | (TaskEvent &
      RunTiming & { readonly type: "retried"; readonly error: ErrorEnvelope; readonly delayMs: number })
  | (TaskEvent & RunTiming & { readonly type: "canceled" })
  /** Returned to its queue without spending the attempt. */
  | (TaskEvent & RunTiming & { readonly type: "released" })
  /** Queued again by `snooze`, due `delayMs` later, without spending the attempt. */
  | (TaskEvent & RunTiming & { readonly type: "snoozed"; readonly delayMs: number })
  /** Another worker may have the task; nothing of this attempt was stored. */
  | (TaskEvent & RunTiming & { readonly type: "lostLease" })
  /** The lease of a task, of this or another worker, had expired; `status` is the status of the task since then. */
  | (TaskEvent & { readonly type: "recovered"; readonly status: TaskStatus })
  /** No due task is left for this worker, or its time is up. */
  | { readonly type: "drained"; readonly summary: DrainSummary };

/** The work during which a recovered error occurred. */
export interface ErrorContext {
  /**
   * A round trip (`settleAndClaim`, `heartbeat`, `cancelPoll`), listening for notifications (`listen`), maintenance
   * (`sweep`, `optimize`), a blocked event loop (`eventLoop`), a handler that threw after its attempt had ended
   * (`handler`), a schedule whose slot or payload could not be computed (`schedules`), or a hook that threw
   * (`onEvent`).
   */
  readonly operation:
    | "settleAndClaim"
    | "heartbeat"
    | "cancelPoll"
    | "listen"
    | "sweep"
    | "optimize"
    | "eventLoop"
    | "handler"
    | "schedules"
    | "hint"
    | "onEvent";
  /** The task whose handler threw; only with `handler`. */
  readonly task?: TaskEvent;
  /** The name of the schedule that was not fired; only with `schedules`. */
  readonly schedule?: string;
}

/**
 * Hooks an application can register. They cannot break the worker: an error that `onEvent` throws or rejects with
 * goes to `onError`.
 */
export interface WorkerHooks {
  /**
   * Wraps each handler call, for tracing or an AsyncLocalStorage: call `run` once and return its result. It
   * gets one context, or one for each task of a batch. An error that it throws fails the attempt, as one of the
   * handler does.
   */
  readonly around?:
    | ((contexts: readonly TaskContext[], run: () => Promise<unknown>) => Promise<unknown>)
    | undefined;
  /** Called synchronously while the worker works: keep it short. */
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
  /**
   * Called for each error the worker recovered from.
   * @default `logger.warn` for a blocked event loop, for an error that a handler threw after its attempt had ended, and
   * for a schedule that was not fired; other errors are dropped
   */
  readonly onError?: ((error: unknown, context: ErrorContext) => void) | undefined;
  /**
   * Gets a line for each final failure of a task, without its payload: an object with `error` and `warn`, as most
   * loggers are. Null writes nothing.
   * @default console
   */
  readonly logger?: Logger | null | undefined;
}

/** Calls `onEvent`; an error of the hook is reported to `onError`. */
export function emit(hooks: WorkerHooks, event: WorkerEvent): void {
  callHook(
    () => hooks.onEvent?.(event),
    (error) => report(hooks, error, "onEvent"),
  );
}

/** Reports a recovered error to `onError`; errors thrown by `onError` are dropped. */
export function report(hooks: WorkerHooks, error: unknown, operation: ErrorContext["operation"]): void {
  callOnError(hooks, error, { operation });
}

/** Reports why a schedule was not fired, or without a name why the definitions in code were not stored. */
export function reportScheduleError(hooks: WorkerHooks, error: unknown, schedule: string | undefined): void {
  callOnError(hooks, error, { operation: "schedules", ...(schedule === undefined ? {} : { schedule }) });
}

/** Reports an error that a handler threw after its attempt had ended. */
export function reportLateError(hooks: WorkerHooks, error: unknown, task: Task): void {
  const { id, name, queue, attempt } = task;
  callOnError(hooks, error, { operation: "handler", task: { id, name, queue, attempt } });
}

/** The `onError` of a worker that was given none. */
export function warnOnError(logger: Logger | null): NonNullable<WorkerHooks["onError"]> {
  return (error, { operation, task, schedule }) => {
    if (operation === "eventLoop") log(logger, "warn", (error as Error).message);
    else if (operation === "handler") log(logger, "warn", lateErrorLine(task!, error));
    else if (operation === "schedules") log(logger, "warn", scheduleErrorLine(schedule, error));
  };
}

function callOnError(hooks: WorkerHooks, error: unknown, context: ErrorContext): void {
  callHook(
    () => hooks.onError?.(error, context),
    () => {},
  );
}

/** Calls a hook, which may be an async function although its promise is not awaited. */
function callHook(hook: () => unknown, onError: (error: unknown) => void): void {
  try {
    const returned = hook();
    // Any thenable: promises of another realm or of a library are not instances of Promise.
    if (typeof (returned as PromiseLike<unknown> | null | undefined)?.then === "function") {
      Promise.resolve(returned).catch(onError);
    }
  } catch (error) {
    onError(error);
  }
}
