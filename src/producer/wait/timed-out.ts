/** The error of a wait whose time is up: it says which state the task is in, and the likely cause. */
import { TaskTimeout } from "../../core/errors/errors.ts";
import type { TaskRef } from "../../core/operations/read.ts";
import type { Task } from "../../core/task.ts";

/**
 * @param error Why the database could not be read at the end, if it could not.
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
  const why = error === undefined ? stuck(task, "key" in ref, nowMs) : notReadable(error);
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
export function notReadable(error: unknown): string {
  return `the database could not be read at the end (${error instanceof Error ? error.message : String(error)})`;
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
      : `its cancel was requested at ${at(cancelRequestedAtMs)} and waits for the handler of attempt ${attempt} ` +
          "to stop; does the handler heed its signal?";
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
