// Commits the statements of several callers together on a better-sqlite3 handle; group-queue.ts collects them.

import type { Row } from "../../core/executor.ts";
import type { BorrowedHandle } from "./better-sqlite3-borrowed-handle.ts";
import type { GroupMember, Outcome } from "./group-queue.ts";

/** How a transaction of a group begins: a write takes the lock at once, a read takes only a snapshot. */
export type Begin = "begin immediate" | "begin";

/**
 * Runs the statements of several callers on a better-sqlite3 handle in one transaction, so that they share one sync of
 * the disk. The statements of one caller are atomic, and their failure is reported to that caller alone.
 */
export class GroupCommit {
  readonly #handle: BorrowedHandle;
  readonly #isLocked: (error: unknown) => boolean;
  readonly #skipsSync: boolean;

  /** @param skipsSync Whether commits that may be lost are not synced. */
  constructor(handle: BorrowedHandle, isLocked: (error: unknown) => boolean, skipsSync: boolean) {
    this.#handle = handle;
    this.#isLocked = isLocked;
    this.#skipsSync = skipsSync;
  }

  /** @throws if nothing was committed, such as for a lock. */
  run(group: readonly GroupMember[], begin: Begin): Outcome[] {
    const handle = this.#handle;
    // One statement is atomic without BEGIN and COMMIT, and single reads have nothing to commit together.
    if (group.every(isSingle) && (group.length === 1 || begin === "begin")) {
      return group.map((member) => this.#isolate(false, () => runAll(handle, member)));
    }
    if (group.length > 1) {
      return handle.transact(begin, () => group.map((member) => this.#runInGroup(member)));
    }
    const member = group[0]!;
    const transact = () => handle.transact(begin, () => runAll(handle, member));
    const isUnsynced = member.mayBeLost && this.#skipsSync;
    const run = () => this.#isolate(false, transact);
    return [isUnsynced ? handle.withoutSync(run) : run()];
  }

  #runInGroup(member: GroupMember): Outcome {
    return this.#isolate(true, () =>
      isSingle(member) ? runAll(this.#handle, member) : this.#handle.runInSavepoint(member.statements),
    );
  }

  /** Runs one member, whose error is its outcome; but a lock, or the loss of the transaction, fails the whole group. */
  #isolate(inTransaction: boolean, run: () => Row[][]): Outcome {
    try {
      return { results: run() };
    } catch (error) {
      if (this.#isLocked(error) || this.#handle.inTransaction !== inTransaction) throw error;
      return { error };
    }
  }
}

function isSingle({ statements }: GroupMember): boolean {
  return statements.length === 1;
}

function runAll(handle: BorrowedHandle, { statements }: GroupMember): Row[][] {
  return statements.map((statement) => handle.query(statement));
}
