// Commits the statements of several callers together on a better-sqlite3 handle; group-queue.ts collects them.

import type { Row } from "../../core/executor.ts";
import type { BorrowedHandle } from "./better-sqlite3-borrowed-handle.ts";
import { isLocked } from "./better-sqlite3-errors.ts";
import type { GroupMember, Outcome } from "./group-queue.ts";

/** How a transaction of a group begins: a write takes the lock at once, a read takes only a snapshot. */
export type Begin = "begin immediate" | "begin";

/**
 * Runs the statements of several callers on a better-sqlite3 handle in one transaction, so that they share one sync of
 * the disk. The statements of one caller are atomic, and their failure is reported to that caller alone.
 *
 * @param skipsSync Whether commits that may be lost are not synced.
 * @throws if nothing was committed, such as for a lock.
 */
export function commitGroup(
  handle: BorrowedHandle,
  group: readonly GroupMember[],
  begin: Begin,
  skipsSync: boolean,
): Outcome[] {
  // One statement is atomic without BEGIN and COMMIT, and single reads have nothing to commit together.
  if (group.every(isSingle) && (group.length === 1 || begin === "begin")) {
    return group.map((member) => isolate(handle, false, () => runAll(handle, member)));
  }
  if (group.length > 1) {
    return handle.transact(begin, () => group.map((member) => runInGroup(handle, member)));
  }
  const member = group[0]!;
  const transact = () => handle.transact(begin, () => runAll(handle, member));
  const run = () => isolate(handle, false, transact);
  return [member.mayBeLost && skipsSync ? handle.withoutSync(run) : run()];
}

function runInGroup(handle: BorrowedHandle, member: GroupMember): Outcome {
  return isolate(handle, true, () =>
    isSingle(member) ? runAll(handle, member) : handle.runInSavepoint(member.statements),
  );
}

/** Runs one member, whose error is its outcome; but a lock, or the loss of the transaction, fails the whole group. */
function isolate(handle: BorrowedHandle, inTransaction: boolean, run: () => Row[][]): Outcome {
  try {
    return { results: run() };
  } catch (error) {
    if (isLocked(error) || handle.inTransaction !== inTransaction) throw error;
    return { error };
  }
}

function isSingle({ statements }: GroupMember): boolean {
  return statements.length === 1;
}

function runAll(handle: BorrowedHandle, { statements }: GroupMember): Row[][] {
  return statements.map((statement) => handle.query(statement));
}
