/** Makes a submit write nothing if one of its keys belongs to a task of another name. */

import { AlreadyExists, type WadiError } from "../errors/errors.ts";
import { fenceText } from "./fence.ts";
import type { Operation, SqlTarget } from "./operation.ts";
import { bind } from "./statement.ts";
import type { NewTask } from "./submit.ts";

/** When a key that already has a task undoes the whole batch. */
export interface KeyFence {
  /** Also under the policy `reject`: for a batch whose sender sees no outcome before the commit. */
  readonly rejects: boolean;
}

/**
 * The submit, which writes nothing at all if one of its keys belongs to a task of another name. Without the fence only
 * that task is left out, and its outcome is `rejected`.
 */
export function fenceTakenKeys<T>(
  target: SqlTarget,
  tasks: readonly NewTask[],
  operation: Operation<T>,
  fence: KeyFence,
): Operation<T> {
  const items = tasks.flatMap(({ columns: { id, name }, key, conflict, requiresSameName }) => {
    const rejects = fence.rejects && conflict === "reject";
    if (key === null || !(rejects || (requiresSameName && conflict !== "reject"))) return [];
    return [{ id, key, ...(rejects ? { conflict } : { own_name: name }) }];
  });
  if (items.length === 0) return operation;
  const statement = bind(target, "fence_task_keys", { keys_json: JSON.stringify(items) });
  return {
    ...operation,
    statements: [...operation.statements, statement],
    decode: (results) => operation.decode(results.slice(0, -1)),
    resend: () => fenceTakenKeys(target, tasks, operation.resend?.() ?? operation, fence),
    explain: (error) => operation.explain?.(error) ?? alreadyExists(error, tasks),
  };
}

function alreadyExists(error: unknown, tasks: readonly NewTask[]): WadiError | undefined {
  const [, id, taskId] = /\bwadi:already_exists ([\w-]+) ([\w-]+)/.exec(fenceText(error) ?? "") ?? [];
  const refused = tasks.find(({ columns }) => columns.id === id);
  if (refused === undefined) return undefined;
  return new AlreadyExists(refused.key!, taskId!, { submitted: refused.columns.name });
}
