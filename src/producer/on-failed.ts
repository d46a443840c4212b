/** `onFailed`: the task that is submitted when another has failed for good, as it is stored with that other task. */

import { InvalidArgument } from "../core/errors/errors.ts";
import { checkIndexedTogether } from "../core/index-limits.ts";
import type { ErrorEnvelope } from "../core/task.ts";
import { text } from "../core/validate.ts";
import type { TaskLimits } from "./fleet-limits.ts";

/** A task that `onFailed` can name: a definition that takes an `OnFailedPayload`, or the name of its handler. */
export type OnFailedTask =
  | string
  | {
      readonly name: string;
      readonly queue: string;
      readonly maxAttempts: number;
      readonly maxCrashes: number;
      readonly priority: number;
      readonly expiresInMs: number | null;
      readonly limits: TaskLimits<OnFailedPayload> | null;
    };

/**
 * The payload of the task that `onFailed` names. It does not hold the payload of the failed task, which may be large or
 * private: read it by `wadi.get(task.id)` while the task is kept.
 *
 * @example
 * ```ts
 * import { defineTask, type OnFailedPayload } from "wadi";
 *
 * const alert = defineTask<OnFailedPayload>({ name: "alert" });
 * const charge = defineTask<{ order: number }>({ name: "charge", onFailed: alert });
 * ```
 */
export interface OnFailedPayload {
  /** The task that failed. */
  readonly task: {
    /** Its id. */
    readonly id: string;
    /** Its name. */
    readonly name: string;
    /** Its queue. */
    readonly queue: string;
    /** The key that pointed at it when it failed; null if it had none. */
    readonly key: string | null;
    /** Attempts that it had begun. */
    readonly attempts: number;
    /** Its leases that had expired. */
    readonly crashes: number;
  };
  /** Why it failed; null if another SDK stored no error. */
  readonly error: ErrorEnvelope | null;
}

/** @throws {InvalidArgument} if it is no name and no definition, or one with limits. */
export function checkOnFailed(option: string, task: unknown): OnFailedTask {
  if (typeof task === "string") {
    checkIndexedTogether({ [option]: text(option, task) });
    return task;
  }
  const { name, queue, limits } = (task ?? {}) as Exclude<OnFailedTask, string>;
  if (typeof name !== "string" || typeof queue !== "string" || limits === undefined) {
    throw new InvalidArgument(`${option} must be a task name, or the result of defineTask({ name })`);
  }
  if (limits !== null) {
    throw new InvalidArgument(
      `${option} names "${name}", which has limits, and the database submits it without; submit it from a handler`,
    );
  }
  return task as OnFailedTask;
}

/** The column that says what to submit when the task has failed; null for nothing. */
export function onFailedJson(task: OnFailedTask | null): string | null {
  if (task === null) return null;
  const { name, queue, maxAttempts, maxCrashes, priority, expiresInMs } =
    typeof task === "string" ? { ...DEFAULTS, name: task } : task;
  return JSON.stringify({
    name,
    queue,
    max_attempts: maxAttempts,
    max_crashes: maxCrashes,
    priority,
    expires_in_ms: expiresInMs ?? undefined,
  });
}

const DEFAULTS = { queue: "default", maxAttempts: 3, maxCrashes: 3, priority: 0, expiresInMs: null };
