/** Stage 5 of a submit: joins the submits of one tick. */
import { isDatabaseRefusal } from "../../core/errors/database-refusals.ts";
import type { LeaseRef } from "../../core/operations/lease.ts";
import { splitTasks } from "../../core/operations/split-tasks.ts";
import type { NewTask, SubmittedTask } from "../../core/operations/submit.ts";
import { hasEnded, type OperationOptions } from "../../core/session/operation-options.ts";
import { isTooLarge } from "../../core/session/read-by-halves.ts";
import type { Session } from "../../core/session/session.ts";

/** How a submit is sent. */
export interface SendOptions {
  /** The lease without which the task is refused. */
  readonly parent?: LeaseRef | undefined;
  readonly call?: OperationOptions | undefined;
  /** Whether the same was sent before and may have been committed. */
  readonly isResent?: boolean | undefined;
}

export interface BatchSender {
  /** Sends tasks in one round trip. */
  sendBatch(tasks: readonly NewTask[], options: SendOptions): Promise<SubmittedTask[]>;
}

interface PendingSubmit extends SendOptions {
  readonly task: NewTask;
  resolve(submitted: SubmittedTask): void;
  reject(error: unknown): void;
}

/**
 * The stage of a submit that joins the submits of one tick into one statement, so that many requests in flight cost one
 * round trip and one commit. A submit that is alone is not delayed. Each still succeeds or fails by itself.
 */
export class SubmitBatcher {
  readonly #session: Session;
  readonly #sender: BatchSender;
  #pending: PendingSubmit[] = [];

  constructor(session: Session, sender: BatchSender) {
    this.#session = session;
    this.#sender = sender;
  }

  add(task: NewTask, options: SendOptions): Promise<SubmittedTask> {
    return new Promise((resolve, reject) => {
      const pending = { ...options, task, resolve, reject };
      if (this.#pending.push(pending) === 1) queueMicrotask(() => this.#flush());
    });
  }

  #flush(): void {
    const pending = this.#takeOpen();
    for (const entry of pending.filter(({ isResent }) => isResent)) void this.#send([entry]);
    const fresh = pending.filter(({ isResent }) => !isResent);
    // Only children of one parent share a round trip: a lost lease refuses all that travel with it.
    for (const parent of new Set(fresh.map((entry) => entry.parent))) {
      const siblings = fresh.filter((entry) => entry.parent === parent);
      // Apart, because a submit with a key may have to wait for a lock that the others do not need.
      const keyless = siblings.filter(({ task }) => task.key === null);
      const keyed = siblings.filter(({ task }) => task.key !== null);
      for (const entries of [keyless, keyed]) if (entries.length > 0) void this.#sendAll(entries);
    }
  }

  /** What is pending and still has a caller; the rest is rejected. */
  #takeOpen(): PendingSubmit[] {
    const open: PendingSubmit[] = [];
    for (const entry of this.#pending) {
      const { call = {}, reject } = entry;
      if (hasEnded(call)) reject(call.signal?.aborted ? call.signal.reason : tooLate(this.#session));
      else open.push(entry);
    }
    this.#pending = [];
    return open;
  }

  /** One part after the other, so that submits of one key meet each other in their order. */
  async #sendAll(entries: readonly PendingSubmit[]): Promise<void> {
    let next = 0;
    for (const part of splitTasks(
      entries.map(({ task }) => task),
      this.#session.executor.limits,
    )) {
      await this.#send(entries.slice(next, next + part.length));
      next += part.length;
    }
  }

  async #send(part: readonly PendingSubmit[]): Promise<void> {
    try {
      const [first] = part;
      // A shared request lasts as long as its last caller waits; each of them may leave sooner.
      const call = part.length === 1 ? first!.call : { deadlineMs: latest(part) };
      const tasks = part.map(({ task }) => task);
      const submitted = await this.#sender.sendBatch(tasks, { ...first, call });
      for (const [i, { resolve }] of part.entries()) resolve(submitted[i]!);
    } catch (error) {
      // A refusal may be the fault of one task: nothing was written, so each is sent by itself. So is each where the
      // tasks of their keys are too large for one answer; then all may have been committed.
      const isResent = isTooLarge(error);
      if ((isResent || isDatabaseRefusal(error)) && part.length > 1) {
        for (const entry of part) await this.#send([{ ...entry, isResent: isResent || entry.isResent }]);
      } else for (const { reject } of part) reject(error);
    }
  }
}

/** The latest deadline; undefined leaves it to the default. */
function latest(part: readonly PendingSubmit[]): number | undefined {
  const deadlines = part.map(({ call }) => call?.deadlineMs);
  return deadlines.every((deadline) => deadline !== undefined) ? Math.max(...deadlines) : undefined;
}

function tooLate(session: Session): Error {
  const advice = "its deadline came before it was sent, and nothing is queued; give it a later deadlineMs";
  return session.driverError("submit", "unavailable", new Error("the deadline is past"), advice);
}
