/** `settled` of a handler's context: the task as it is after its attempt was settled. */

import type { Task, TaskStatus } from "../../core/task.ts";

/** The task after an attempt was settled, or `lostLease` if its lease was lost and nothing was stored. */
export type SettledTask<Payload = unknown, Result = unknown> =
  | Task<Payload, Result>
  | { readonly id: string; readonly status: "lostLease" };

/** Lets a handler wait until its attempt is settled. */
export class SettledTaskWait {
  #status: TaskStatus | null | undefined;
  #notify: ((status: TaskStatus | null) => void) | null = null;
  #settled: Promise<SettledTask> | null = null;

  /** The database has the outcome, and the task has this status now; null: the lease was lost. */
  resolve(status: TaskStatus | null): void {
    this.#status ??= status;
    this.#notify?.(this.#status);
  }

  /** Resolves after `resolve`. Only its first call costs a round trip, that of `read`. Never rejects. */
  settled(task: Task, read: () => Promise<Task | null>): Promise<SettledTask> {
    this.#settled ??= this.#settle(task, read);
    return this.#settled;
  }

  async #settle(task: Task, read: () => Promise<Task | null>): Promise<SettledTask> {
    const status =
      this.#status !== undefined
        ? this.#status
        : await new Promise<TaskStatus | null>((resolve) => {
            this.#notify = resolve;
          });
    if (status === null) return { id: task.id, status: "lostLease" };
    const now = await read().catch(() => null);
    return { ...(now ?? task), status }; // the next attempt may have begun
  }
}
