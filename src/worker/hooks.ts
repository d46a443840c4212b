import type { ErrorEnvelope, Task, TaskStatus } from "../core/task.ts";
import type { DrainSummary } from "./drain-summary.ts";
import { type Logger, lateLine, log } from "./logger.ts";
import type { TaskContext } from "./task-context.ts";

/** The task an event is about. */
export interface TaskEvent {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  /** The attempt it was in. */
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
 * What happened in a worker, told apart by `type`. An attempt is told as `claimed`, then `started`, then one of
 * `succeeded`, `failed`, `retried`, `canceled`, `released` and `lostLease`, each after the database has it.
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
  /** Handed back without spending the attempt. */
  | (TaskEvent & RunTiming & { readonly type: "released" })
  /** Another worker may have the task; nothing of this attempt was stored. */
  | (TaskEvent & RunTiming & { readonly type: "lostLease" })
  /** A task, of this or another worker, whose lease had run out, and what it became. */
  | (TaskEvent & { readonly type: "recovered"; readonly status: TaskStatus })
  /** Nothing that is due is left to this worker, or its time is up. */
  | { readonly type: "drained"; readonly summary: DrainSummary };

/** What a worker was doing when it met an error that it survived. */
export interface ErrorContext {
  /**
   * `settleAndClaim`, `heartbeat`, `cancelPoll`, `listen`, `sweep`, `eventLoop`, `handler`, or the name of a hook, such as `onEvent`.
   */
  readonly operation: string;
  /** The task it is about, where it is about one: `handler` is what a handler threw after its attempt had ended. */
  readonly task?: TaskEvent;
}

/** What an application hangs into a worker. None of them may break it: what they throw, or reject with, goes to `onError`. */
export interface WorkerHooks {
  /**
   * Wraps each handler call, for tracing or an AsyncLocalStorage: call `run` once and return what it resolves to.
   * A batch has a context for each of its tasks. What it throws fails the attempt as a throwing handler does.
   */
  readonly around?:
    | ((contexts: readonly TaskContext[], run: () => Promise<unknown>) => Promise<unknown>)
    | undefined;
  /** Called at once, in the worker's own turn: keep it short. */
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
  /**
   * Called for every error the worker survived. @default a blocked event loop, and what a handler threw after its attempt had ended,
   * are warnings of `logger`; all others are dropped
   */
  readonly onError?: ((error: unknown, scene: ErrorContext) => void) | undefined;
  /**
   * Where each final failure of a task is written, in one line and without its payload: an object with `error` and `warn`, as
   * most loggers are. Null writes nothing. @default console
   */
  readonly logger?: Logger | null | undefined;
}

/** Tells an event. A listener that throws, or whose promise rejects, is an error the worker survived. */
export function emit(hooks: WorkerHooks, event: WorkerEvent): void {
  tell(
    () => hooks.onEvent?.(event),
    (error) => report(hooks, error, "onEvent"),
  );
}

/** Tells an error the worker survived; one in telling it has nobody left to go to. */
export function report(hooks: WorkerHooks, error: unknown, operation: string): void {
  notify(hooks, error, { operation });
}

/** What is told to `logger` where the application does not listen to errors. */
export function warnOf(logger: Logger | null): NonNullable<WorkerHooks["onError"]> {
  return (error, { operation, task }) => {
    if (operation === "eventLoop") log(logger, "warn", (error as Error).message);
    else if (operation === "handler") log(logger, "warn", lateLine(task!, error));
  };
}

/** Reports what a handler threw after its attempt had ended. */
export function reportLate(hooks: WorkerHooks, error: unknown, { id, name, queue, attempt }: Task): void {
  notify(hooks, error, { operation: "handler", task: { id, name, queue, attempt } });
}

function notify(hooks: WorkerHooks, error: unknown, scene: ErrorContext): void {
  tell(
    () => hooks.onError?.(error, scene),
    () => {},
  );
}

/** A hook may be an async function, though nobody waits for it. */
function tell(hook: () => unknown, onError: (error: unknown) => void): void {
  try {
    const returned = hook();
    // Also one of another realm, or of a library's own.
    if (typeof (returned as PromiseLike<unknown> | null | undefined)?.then === "function") {
      Promise.resolve(returned).catch(onError);
    }
  } catch (error) {
    onError(error);
  }
}
