import { isRefusal } from "../../core/errors/errors.ts";
import type { LeaseRef } from "../../core/operations/lease.ts";
import { type SplitLimits, splitTasks } from "../../core/operations/split-tasks.ts";
import type { NewTask, SubmittedTask } from "../../core/operations/submit.ts";
import { type CallOptions, hasEnded } from "../../core/session/call-options.ts";
import { isTooLarge } from "../../core/session/pages.ts";

/** How a submit is sent. */
export interface SendOptions {
  /** The lease without which the task is refused. */
  readonly parent?: LeaseRef | undefined;
  readonly call?: CallOptions | undefined;
  /** Whether the same was sent before and may have been committed. */
  readonly isResent?: boolean | undefined;
}

/** Sends tasks in one round trip. */
type Submit = (tasks: readonly NewTask[], options: SendOptions) => Promise<SubmittedTask[]>;

interface Waiting extends SendOptions {
  readonly task: NewTask;
  resolve(submitted: SubmittedTask): void;
  reject(error: unknown): void;
}

/**
 * Joins the submits of one tick into one statement, so that many requests in flight cost one round trip
 * and one commit. A submit that is alone waits for nothing. Each still succeeds or fails by itself.
 */
export class SubmitQueue {
  readonly #limits: SplitLimits;
  readonly #submit: Submit;
  readonly #tooLate: () => unknown;
  #waiting: Waiting[] = [];

  /** `tooLate` makes the error of a submit whose deadline came before it was sent. */
  constructor(limits: SplitLimits, submit: Submit, tooLate: () => unknown) {
    this.#limits = limits;
    this.#submit = submit;
    this.#tooLate = tooLate;
  }

  /** With a parent only what has the same one shares the round trip: a lost lease is no business of the others. */
  add(task: NewTask, options: SendOptions): Promise<SubmittedTask> {
    return new Promise((resolve, reject) => {
      const waiting = { ...options, task, resolve, reject };
      if (this.#waiting.push(waiting) === 1) queueMicrotask(() => this.#flush());
    });
  }

  #flush(): void {
    const waiting: Waiting[] = [];
    for (const entry of this.#waiting) {
      const { call = {}, reject } = entry;
      if (hasEnded(call)) reject(call.signal?.aborted ? call.signal.reason : this.#tooLate());
      else waiting.push(entry);
    }
    this.#waiting = [];
    for (const entry of waiting.filter(({ isResent }) => isResent)) void this.#send([entry]);
    const fresh = waiting.filter(({ isResent }) => !isResent);
    for (const parent of new Set(fresh.map((entry) => entry.parent))) {
      const family = fresh.filter((entry) => entry.parent === parent);
      // Apart, because a keyed submit may have to wait for a lock that is no business of the others.
      void this.#sendAll(family.filter(({ task }) => task.key === null));
      void this.#sendAll(family.filter(({ task }) => task.key !== null));
    }
  }

  /** One part after the other, so that submits of one key meet each other in their order. */
  async #sendAll(waiting: readonly Waiting[]): Promise<void> {
    let next = 0;
    for (const part of splitTasks(
      waiting.map(({ task }) => task),
      this.#limits,
    )) {
      await this.#send(waiting.slice(next, next + part.length));
      next += part.length;
    }
  }

  async #send(part: readonly Waiting[]): Promise<void> {
    try {
      const [first] = part;
      // What several share lasts as long as its last caller waits; each of them may leave sooner.
      const call = part.length === 1 ? first!.call : { deadlineMs: latest(part) };
      const tasks = part.map(({ task }) => task);
      const submitted = await this.#submit(tasks, { ...first, call });
      for (const [i, { resolve }] of part.entries()) resolve(submitted[i]!);
    } catch (error) {
      // What the database refuses may be the fault of one: nothing was written, so each is sent by itself. So is each
      // where their keys have tasks that are too large for one answer; then all may have been committed.
      const isResent = isTooLarge(error);
      if ((isResent || isRefusal(error)) && part.length > 1) {
        for (const entry of part) await this.#send([{ ...entry, isResent: isResent || entry.isResent }]);
      } else for (const { reject } of part) reject(error);
    }
  }
}

/** The latest deadline; undefined leaves it to the default. */
function latest(part: readonly Waiting[]): number | undefined {
  const deadlines = part.map(({ call }) => call?.deadlineMs);
  return deadlines.every((deadline) => deadline !== undefined) ? Math.max(...deadlines) : undefined;
}
