import { TaskTimeout } from "../../core/errors/errors.ts";
import type { TaskRef } from "../../core/operations/read.ts";
import type { Task } from "../../core/task.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import { integer, onlyKnown, optionalSignal } from "../../core/validate.ts";
import type { OpenWait } from "./open-wait.ts";
import type { PollLoop } from "./poll-loop.ts";

/** How long a wait lasts, and how often it polls. */
export interface WaitOptions {
  /** Longest wait in milliseconds. The task itself goes on after it. Minimum `0`. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /** Ends the wait with the signal's reason; the task itself goes on. @default none */
  readonly signal?: AbortSignal | undefined;
  /** First pause between two polls in milliseconds; it grows 1.5 times each. Minimum `1`. @default 100 */
  readonly pollMs?: number | undefined;
  /**
   * Longest pause between two polls in milliseconds. While the database reports the end of tasks a wait polls every 30
   * seconds; where the platform counts queries it polls less often. Minimum `1`. @default 500
   */
  readonly maxPollMs?: number | undefined;
  /**
   * Most queries that the wait sends in all its time, polls of other waits of this `Wadi` included: the first half goes by
   * `pollMs`, the rest is spread over the time that is left. Minimum `1`. @default half of the driver's `limits.maxQueries`
   */
  readonly maxQueries?: number | undefined;
}

/** Options of `call`: those of a wait, and the id of its task. */
export interface CallTaskOptions extends WaitOptions {
  /**
   * Id of the task, from the error of an earlier try of this call (`taskId` of a `DriverError`, `id` of a `TaskTimeout`): if it
   * was queued then, no second task is made. @default a new one
   */
  readonly id?: string | undefined;
}

export const WAIT_OPTIONS = ["timeoutMs", "signal", "pollMs", "maxPollMs", "maxQueries"];

export interface CheckedWait {
  readonly timeoutMs: number;
  readonly pollMs: number;
  readonly maxPollMs: number;
  readonly maxQueries: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** @throws {InvalidArgument} if an option is out of range, or the signal's reason if it is aborted already. */
export function checkWait(options: WaitOptions = {}, what = "wait"): CheckedWait {
  onlyKnown(what, options, WAIT_OPTIONS);
  const { timeoutMs = 30_000, pollMs = 100, maxPollMs = 500, maxQueries, signal } = options;
  optionalSignal(signal)?.throwIfAborted();
  integer("timeoutMs", timeoutMs, 0);
  integer("pollMs", pollMs, 1, MAX_TIMER_MS);
  integer("maxPollMs", maxPollMs, 1, MAX_TIMER_MS);
  if (maxQueries !== undefined) integer("maxQueries", maxQueries, 1);
  return { timeoutMs, pollMs, maxPollMs, maxQueries, signal };
}

/**
 * Waits until a task is terminal and returns it. Polls its state only, and reads the whole row once; a signal is answered by
 * reading the row at once. By key the key is resolved anew at each poll: a replace moves the wait, and a key without a task
 * is waited for.
 */
export function waitForTask(loop: PollLoop, ref: TaskRef, wait: CheckedWait): Promise<Task> {
  return openWait(loop, ref, wait, false).done;
}

/** A wait for one task, and its end. One that rests does not poll until the loop resumes it. */
export function openWait(
  loop: PollLoop,
  ref: TaskRef,
  wait: CheckedWait,
  isResting: boolean,
): { readonly open: OpenWait; readonly done: Promise<Task> } {
  const { promise: done, resolve, reject } = withResolvers<Task>();
  const end = endOnAbort(wait.signal, (reason) => {
    loop.close(open);
    reject(reason);
  });
  const open = loop.open(
    "one",
    [ref],
    wait,
    {
      ended(_ref, task) {
        end();
        resolve(task);
      },
      timedOut(task, error) {
        end();
        reject(timedOut(ref, wait.timeoutMs, task, error, loop.nowMs));
      },
      failed(error) {
        end();
        reject(error);
      },
    },
    isResting,
  );
  return { open, done };
}

export function withResolvers<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((...functions) => {
    [resolve, reject] = functions;
  });
  return { promise, resolve, reject };
}

/** Calls `onAbort` with the signal's reason until the returned function is called. */
export function endOnAbort(signal: AbortSignal | undefined, onAbort: (reason: unknown) => void): () => void {
  const abort = () => {
    end();
    onAbort(signal!.reason);
  };
  const end = () => signal?.removeEventListener("abort", abort);
  signal?.addEventListener("abort", abort);
  return end;
}

/**
 * @param error Why the database could not be asked at the end, if it could not.
 * @param nowMs The database's time as far as it is known.
 */
export function timedOut(
  ref: TaskRef,
  timeoutMs: number,
  task: Task | null,
  error: unknown,
  nowMs: number,
): TaskTimeout {
  const what = "id" in ref ? `task ${ref.id}` : `the task of key "${ref.key}"`;
  const why = error === undefined ? stuck(task, "key" in ref, nowMs) : unasked(error);
  return new TaskTimeout(
    `waited ${timeoutMs} ms for ${what}: ${why}`,
    {
      id: task?.id ?? ("id" in ref ? ref.id : null),
      key: "key" in ref ? ref.key : null,
      task,
    },
    { cause: error },
  );
}

/** Says that the state is not known. */
export function unasked(error: unknown): string {
  return `the database could not be asked at the end (${error instanceof Error ? error.message : String(error)})`;
}

/** Says which state the task is stuck in and the likely cause. `nowMs` is the database's time as far as it is known. */
function stuck(task: Task | null, byKey: boolean, nowMs: number): string {
  if (task === null)
    return byKey
      ? "the key has no task; was it submitted?"
      : "there is no such task; was it purged, or is the transaction that submits it still open?";
  const { status, attempt, maxAttempts, runAtMs, cancelRequestedAtMs } = task;
  if (status === "running") {
    return cancelRequestedAtMs === null
      ? `it is running attempt ${attempt} of ${maxAttempts}; wait longer`
      : `its cancel was requested at ${at(cancelRequestedAtMs)} and waits for the handler of attempt ${attempt} to stop; does the handler heed its signal?`;
  }
  const isDue = runAtMs <= nowMs;
  if (attempt > 0) {
    const pause = isDue ? "is queued again" : `is in backoff until ${at(runAtMs)}`;
    return `it failed ${attempt} of ${maxAttempts} attempts and ${pause} (last error: ${task.error?.code ?? "none"})`;
  }
  if (!isDue) return `it is delayed until ${at(runAtMs)}; wait longer`;
  return `it was never claimed; does a worker with a handler for "${task.name}" drain the queue "${task.queue}"?`;
}

function at(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
