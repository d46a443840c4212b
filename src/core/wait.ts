import { integer } from "./arguments.ts";
import { sleep } from "./backoff.ts";
import type { DoneSignals } from "./done-signals.ts";
import { TaskTimeout } from "./errors.ts";
import type { TaskRef } from "./operations/read.ts";
import type { Store } from "./store.ts";
import { isTerminal, type Task } from "./task.ts";

export interface WaitOptions {
  /** Longest wait in milliseconds. The task itself goes on after it. Minimum `0`. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /** Ends the wait with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** First pause between two looks in milliseconds; it grows 1.5 times each. Minimum `1`. @default 100 */
  readonly pollMs?: number | undefined;
  /** Longest pause between two looks in milliseconds. @default 500 */
  readonly maxPollMs?: number | undefined;
}

export const WAIT_OPTION_NAMES = ["timeoutMs", "signal", "pollMs", "maxPollMs"];

const GROWTH = 1.5;

/**
 * Waits until a task is terminal and returns it. Looks at id and status only, and reads the whole row once.
 * By key the key is resolved anew at each look: a replace moves the wait, and a key without a task is waited for.
 */
export async function waitForTask(
  store: Store,
  ref: TaskRef,
  options: WaitOptions = {},
  signals: DoneSignals | null = null,
): Promise<Task> {
  const timeoutMs = integer("timeoutMs", options.timeoutMs ?? 30_000, 0);
  const firstPoll = integer("pollMs", options.pollMs ?? 100, 1);
  const maxPoll = Math.max(firstPoll, integer("maxPollMs", options.maxPollMs ?? 500, 1));
  const { signal } = options;
  const deadlineMs = Date.now() + timeoutMs;
  let pause = firstPoll;
  let lastId: string | null = "id" in ref ? ref.id : null;
  for (;;) {
    const wake = signals === null || lastId === null ? null : await signals.subscribe(lastId);
    try {
      const seen = await store.getStatus(ref, { signal, deadlineMs });
      const left = deadlineMs - Date.now();
      if (left <= 0 || (seen !== null && isTerminal(seen.status))) {
        const task = await store.get(ref, { signal });
        // It may be done by now, or gone or queued again: purged, or retried by somebody. Then look again.
        if (task !== null && isTerminal(task.status)) return task;
        if (left <= 0) throw timedOut(ref, timeoutMs, task);
      }
      const moved = seen !== null && seen.id !== lastId;
      lastId = seen?.id ?? lastId;
      // A key that has just shown its task: subscribe before pausing.
      if (moved && signals !== null) continue;
      await Promise.race([sleep(Math.min(pause, left), signal), ...(wake === null ? [] : [wake.fired])]);
      pause = Math.min(maxPoll, pause * GROWTH);
    } finally {
      wake?.release();
    }
  }
}

function timedOut(ref: TaskRef, timeoutMs: number, task: Task | null): TaskTimeout {
  const what = "id" in ref ? `task ${ref.id}` : `the task of key "${ref.key}"`;
  return new TaskTimeout(`waited ${timeoutMs} ms for ${what}: ${stuck(task, "key" in ref)}`, {
    id: task?.id ?? ("id" in ref ? ref.id : null),
    key: "key" in ref ? ref.key : null,
    task,
  });
}

/** Says which state the task is stuck in and the likely cause. */
function stuck(task: Task | null, byKey: boolean): string {
  if (task === null)
    return byKey ? "the key has no task; was it submitted?" : "there is no such task; was it purged?";
  if (task.status === "running") {
    return `it is running attempt ${task.attempt} of ${task.maxAttempts}; wait longer, or give it less to do`;
  }
  if (task.attempt > 0) {
    return `it failed ${task.attempt} of ${task.maxAttempts} attempts and is queued again (last error: ${task.error?.code ?? "none"})`;
  }
  return `it was never claimed; does a worker with a handler for "${task.name}" drain the queue "${task.queue}"?`;
}
