/** `wadi.call`: submits a task, and waits for its result. */
import { type Backoff, backoffDelay } from "../../core/backoff.ts";
import {
  DriverError,
  InvalidArgument,
  TaskCanceled,
  TaskFailed,
  TaskTimeout,
} from "../../core/errors/errors.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { SubmittedTask } from "../../core/operations/submit.ts";
import { isTerminal, type Task } from "../../core/task.ts";
import { sleep } from "../../core/timers.ts";
import { onlyKnown, text } from "../../core/validate.ts";
import type { Submission } from "../submit/submission.ts";
import { SUBMIT_OPTIONS, type SubmitOptions } from "../submit/submit-options.ts";
import type { OpenWaits } from "./open-waits.ts";
import { GRACE_MS } from "./shared-request.ts";
import { openWait, waitForTask } from "./wait.ts";
import { type CallTaskOptions, type CheckedWait, checkWait, WAIT_OPTIONS } from "./wait-options.ts";

/** Pauses between two tries to submit. */
const OUTAGE: Backoff = { baseMs: 100, capMs: 2000 };
/** How long an answer to a submit is waited for before it is sent again. */
const ANSWER_MS = 10_000;

const CALL_TASK_OPTIONS = [...SUBMIT_OPTIONS, ...WAIT_OPTIONS, "id"];

/** Splits the options of `call` into those of the wait, the id, and those of the submit. @throws {InvalidArgument} */
export function splitCallTask(options: SubmitOptions & CallTaskOptions): {
  readonly wait: CheckedWait;
  readonly id: string | undefined;
  readonly rest: SubmitOptions;
} {
  onlyKnown("call", options, CALL_TASK_OPTIONS);
  const { timeoutMs, signal, pollMs, maxPollMs, maxQueries, id, ...rest } = options;
  const wait = checkWait({ timeoutMs, signal, pollMs, maxPollMs, maxQueries });
  return { wait, id: id === undefined ? undefined : text("id", id), rest };
}

/** Submits a task, waits for it and returns its result. */
export async function callTask(loop: OpenWaits, submission: Submission, wait: CheckedWait): Promise<unknown> {
  const { id, name } = submission;
  const endsAtMs = monotonicMs() + wait.timeoutMs;
  // Before the submit: in the same process the task may be done before its submit has returned.
  const mine = openWait(loop, { id }, wait, true);
  const until = () => (mine.open.isOpen ? endsAtMs : 0);
  const submitted = submitUntil(submission, wait, until);
  submitted.catch(() => {});
  mine.done.catch(() => {}); // the submit may fail first
  let task: Task;
  try {
    // The answer to the submit may be lost while the end of the task is reported.
    task = await Promise.race([submitted, mine.done]);
    // A task with another id is the one that the key has.
    if (task.id === id && task.name !== name) {
      throw new InvalidArgument(
        `task ${id} is one of "${task.name}", not of "${name}"; ` +
          `call with the id of an error of "${name}", or without one`,
      );
    }
    if (!isTerminal(task.status)) {
      if (task.id === id) {
        loop.resume(mine.open);
        task = await mine.done;
      } else {
        const timeoutMs = Math.max(0, endsAtMs - monotonicMs());
        task = await waitForTask(loop, { id: task.id }, { ...wait, timeoutMs });
      }
    }
  } finally {
    loop.close(mine.open);
  }
  if (task.status === "failed") throw new TaskFailed(task);
  if (task.status === "canceled") throw new TaskCanceled(task);
  return task.result;
}

/** Submits, and sends the same task again while the database fails, until the call ends. */
async function submitUntil(
  submission: Submission,
  { signal, timeoutMs }: CheckedWait,
  endsAtMs: () => number,
): Promise<SubmittedTask> {
  const { id } = submission;
  for (let failures = 0; ; ) {
    const leftMs = Math.max(0, endsAtMs() - monotonicMs());
    const nowMs = Date.now();
    try {
      await submission.admit({ signal, deadlineMs: nowMs + leftMs });
      return await submission.send({ signal, deadlineMs: nowMs + Math.min(leftMs + GRACE_MS, ANSWER_MS) });
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      if (!error.retryable) throw identified(error, id);
      const delayMs = backoffDelay(OUTAGE, ++failures);
      if (monotonicMs() + delayMs >= endsAtMs()) throw unsent(submission, timeoutMs, error);
      await sleep(delayMs, signal);
    }
  }
}

/** A copy of the error, with the id of this task: several submits of one request share the error. */
function identified(error: DriverError, taskId: string): DriverError {
  const { message, cause, kind, retryable } = error;
  return new DriverError(message, { cause, kind, retryable, taskId });
}

function unsent({ id, isSent }: Submission, timeoutMs: number, error: DriverError): TaskTimeout {
  const state = isSent ? "it is not known whether it was queued" : "it was not queued";
  return new TaskTimeout(
    `waited ${timeoutMs} ms for task ${id}: ${state} (${error.message}); call again with this id`,
    { id, key: null, task: null },
    { cause: error },
  );
}
