/** The scope of a database: which environment's workers it belongs to, so that a copy runs nothing of its original. */
import { ScopeMismatch } from "../errors/errors.ts";
import { failedFence, fenceText } from "./fence.ts";
import { type Operation, type SqlTarget, single } from "./operation.ts";
import { bind } from "./statement.ts";

/** The one scope whose workers store it by themselves in a database that has none. */
export const PRODUCTION = "production";

/** Stores the scope of the target in a database that has none. */
export function storeScope(target: SqlTarget): Operation<void> {
  return single("migrate", bind(target, "insert_scope", {}), () => undefined);
}

/** Makes the database belong to the scope of the target. */
export function adoptScope(target: SqlTarget): Operation<void> {
  return single("adopt", bind(target, "upsert_scope", {}), () => undefined);
}

/** What one page of a clear left. */
export interface ClearPage {
  readonly deleted: number;
  /** The scope that the database belongs to now; null: to none. It is the target's once nothing is left to delete. */
  readonly scope: string | null;
}

/**
 * Deletes a page of what another scope has queued in this database, and takes the database over with the last one.
 * Does nothing where the database belongs to the target's scope, so that it may be sent again, or to none.
 */
export function clearPage(target: SqlTarget, maxRows: number): Operation<ClearPage> {
  const deletes = [
    bind(target, "delete_live_tasks", { max_tasks: maxRows }),
    bind(target, "delete_copied_schedules", { max_rows: maxRows }),
    bind(target, "delete_copied_groups", {}),
    bind(target, "delete_copied_pauses", {}),
    bind(target, "delete_copied_wakes", {}),
  ];
  return {
    name: "clear",
    statements: [...deletes, bind(target, "take_cleared_scope", {}), bind(target, "select_scope", {})],
    decode: (results) => {
      const [row] = results.at(-1)!;
      return { deleted: results[0]!.length, scope: row === undefined ? null : String(row.scope) };
    },
  };
}

/** Whether the database has no scope yet, and the client is one that stores it. */
export function isUnscoped(error: unknown): boolean {
  return failedFence(error) === "unscoped";
}

/** The error of a database that belongs to another scope than `scope`; undefined for any other error. */
export function otherScope(error: unknown, scope: string | null): ScopeMismatch | undefined {
  const found = /\bwadi:scope_([\w.-]+)/.exec(fenceText(error) ?? "")?.[1];
  return found === undefined ? undefined : new ScopeMismatch(scope, found);
}
