import { integer, MAX_TIMER_MS, onlyKnown } from "../core/arguments.ts";
import { sleep } from "../core/backoff.ts";
import { TaskTimeout } from "../core/errors.ts";
import type { TaskRef } from "../core/operations/read.ts";
import type { CallOptions } from "../core/session.ts";
import type { Store } from "../core/store.ts";
import { isTerminal, type Task } from "../core/task.ts";
import type { Signals, Wake } from "./signals.ts";

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

export const WAIT_OPTIONS = ["timeoutMs", "signal", "pollMs", "maxPollMs"];

const GROWTH = 1.5;
/** What a look that was sent in time may take beyond it. */
const GRACE_MS = 1000;

export interface CheckedWait {
  readonly timeoutMs: number;
  readonly pollMs: number;
  readonly maxPollMs: number;
  readonly signal: AbortSignal | undefined;
}

/** @throws {InvalidArgument} if an option is out of range, or the signal's reason if it is aborted already. */
export function checkWait(options: WaitOptions = {}): CheckedWait {
  onlyKnown("wait", options, WAIT_OPTIONS);
  const { timeoutMs = 30_000, pollMs = 100, maxPollMs = 500, signal } = options;
  signal?.throwIfAborted();
  integer("timeoutMs", timeoutMs, 0);
  integer("pollMs", pollMs, 1, MAX_TIMER_MS);
  integer("maxPollMs", maxPollMs, 1, MAX_TIMER_MS);
  return { timeoutMs, pollMs, maxPollMs, signal };
}

/** The looks of one wait: when it ends, how long it pauses, and the signal that cuts a pause short. */
export class Looks {
  readonly call: CallOptions;
  /** Whether the last pause was ended by a signal. */
  woken = false;
  readonly #wait: CheckedWait;
  readonly #signals: Signals;
  readonly #endMs: number;
  #pauseMs: number;
  #id: string | null = null;
  #wake: Wake | undefined;

  constructor(wait: CheckedWait, signals: Signals) {
    this.#wait = wait;
    this.#signals = signals;
    this.#endMs = Date.now() + wait.timeoutMs;
    this.#pauseMs = wait.pollMs;
    this.call = { signal: wait.signal, deadlineMs: this.#endMs + GRACE_MS };
  }

  get leftMs(): number {
    return this.#endMs - Date.now();
  }

  /** The task whose end cuts the next pause short. Called before the look, so that nothing is missed in between. */
  expect(id: string | null, wake?: Wake): void {
    if (id === this.#id) return;
    this.release();
    this.#id = id;
    this.#wake = wake ?? (id === null ? undefined : this.#signals.subscribe(id));
  }

  async pause(wake = this.#wake?.fired): Promise<void> {
    const { signal, pollMs, maxPollMs } = this.#wait;
    this.woken = false;
    void wake?.then(() => {
      this.woken = true;
    });
    await sleep(Math.min(this.#pauseMs, this.leftMs), signal, wake);
    this.#pauseMs = Math.max(pollMs, Math.min(maxPollMs, this.#pauseMs * GROWTH));
    this.release();
  }

  release(): void {
    this.#id = null;
    this.#wake?.release();
    this.#wake = undefined;
  }
}

/**
 * Waits until a task is terminal and returns it. Looks at its state only, and reads the whole row once.
 * A signal is answered by reading the row at once. `first` waits for it before the first look, for a task that was just
 * submitted. By key the key is resolved anew at each look: a replace moves the wait, and a key without a task is waited for.
 */
export async function waitForTask(
  store: Store,
  ref: TaskRef,
  wait: CheckedWait,
  signals: Signals,
  first?: Wake,
): Promise<Task> {
  const looks = new Looks(wait, signals);
  let id = "id" in ref ? ref.id : null;
  try {
    looks.expect(id, first);
    if (first !== undefined) await looks.pause();
    for (;;) {
      looks.expect(id);
      let seen = looks.woken ? null : await store.getStatus(ref, looks.call);
      const { leftMs, woken } = looks;
      if (leftMs <= 0 || woken || (seen !== null && isTerminal(seen.status))) {
        const task = await store.get(ref, looks.call);
        // It may be done by now, or gone or queued again: purged, or retried by somebody. Then look again.
        if (task !== null && isTerminal(task.status)) return task;
        if (leftMs <= 0) throw timedOut(ref, wait.timeoutMs, task);
        seen = task;
      }
      if (seen !== null && seen.id !== id) {
        // A key that has just shown its task: subscribe before pausing, and see what the database had told before.
        id = seen.id;
        looks.expect(id);
        if (signals.state !== "local") continue;
      }
      await looks.pause();
    }
  } finally {
    looks.release();
  }
}

export function timedOut(ref: TaskRef, timeoutMs: number, task: Task | null): TaskTimeout {
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
    return byKey
      ? "the key has no task; was it submitted?"
      : "there is no such task; was it purged, or is the transaction that submits it still open?";
  if (task.status === "running") {
    return `it is running attempt ${task.attempt} of ${task.maxAttempts}; wait longer`;
  }
  if (task.attempt > 0) {
    return `it failed ${task.attempt} of ${task.maxAttempts} attempts and is queued again (last error: ${task.error?.code ?? "none"})`;
  }
  return `it was never claimed; does a worker with a handler for "${task.name}" drain the queue "${task.queue}"?`;
}
