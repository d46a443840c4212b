// Runs an executor's calls on a better-sqlite3 handle: in groups, in transactions, and once other locks are gone.

import type { Executor, OpenTransaction, SendOptions } from "../../core/executor.ts";
import type { ExecutorTraits } from "../shared/inherited-members.ts";
import { BorrowedHandle } from "./better-sqlite3-borrowed-handle.ts";
import { type BetterSqlite3Like, isInTransaction } from "./better-sqlite3-client.ts";
import { isLocked } from "./better-sqlite3-errors.ts";
import { runInTransaction } from "./better-sqlite3-interactive-transaction.ts";
import { DEFAULT_BUSY_TIMEOUT_MS, retryWhileBusy } from "./busy-retry.ts";
import { type Begin, commitGroup } from "./group-commit.ts";
import { type GroupMember, GroupQueue, type Outcome } from "./group-queue.ts";
import { refusedInTransaction } from "./sqlite-errors.ts";

export interface SchedulerOptions {
  /** Set once, before the first work. */
  readonly pragmas: readonly string[];
  /** Whether commits that may be lost are not synced. */
  readonly skipsSync: boolean;
  readonly busyTimeoutMs: number | undefined;
}

/**
 * Runs the calls of one executor on a better-sqlite3 handle: concurrent calls in groups, interactive transactions
 * exclusively, and both once other connections have released their locks.
 */
export class BetterSqlite3Scheduler {
  readonly #db: BetterSqlite3Like;
  readonly #handle: BorrowedHandle;
  readonly #busyTimeoutMs: number;
  readonly #skipsSync: boolean;
  readonly #writes = new GroupQueue((group) => this.#runGroup(group, "begin immediate"));
  // Apart from the writes, because a read need not wait for a lock that another process holds.
  readonly #reads = new GroupQueue((group) => this.#runGroup(group, "begin"));
  /** Other handles on the same file, whose transactions were passed to `openTransaction`. */
  readonly #otherHandles = new WeakMap<object, BorrowedHandle>();
  /** Pending while `transaction` uses the handle exclusively. */
  #exclusiveUse: Promise<void> | undefined;

  constructor(db: BetterSqlite3Like, { pragmas, skipsSync, busyTimeoutMs }: SchedulerOptions) {
    this.#db = db;
    this.#handle = new BorrowedHandle(db, pragmas);
    this.#busyTimeoutMs = busyTimeoutMs ?? (this.#handle.busyTimeoutMs || DEFAULT_BUSY_TIMEOUT_MS);
    this.#skipsSync = skipsSync;
  }

  /**
   * Adds a call to the next group.
   * @throws {Unsupported} if the options refuse an open transaction of the application.
   */
  submit(member: GroupMember, options: SendOptions | undefined): void {
    const isRefused = options?.openTransaction === "refuse" && this.#exclusiveUse === undefined;
    if (isRefused && this.#handle.inTransaction) throw refusedInTransaction("better-sqlite3 handle", "db");
    (this.#handle.isReadOnly(member.statements) ? this.#reads : this.#writes).add(member);
  }

  /** Runs `fn` in a transaction, for which other calls wait. */
  async transaction<T>(traits: ExecutorTraits, fn: (tx: Executor) => Promise<T>): Promise<T> {
    while (this.#exclusiveUse) await this.#exclusiveUse;
    let release = () => {};
    this.#exclusiveUse = new Promise((resolve) => {
      release = resolve;
    });
    try {
      const begin = () => this.#handle.withoutLockWait(() => this.#handle.command("begin immediate"));
      await retryWhileBusy(begin, isLocked, this.#busyTimeoutMs);
      return await runInTransaction(this.#handle, traits, fn);
    } finally {
      this.#exclusiveUse = undefined;
      release();
    }
  }

  /** Runs statements in the transaction that the application has open on `tx`; null if there is none. */
  openTransaction(tx: unknown): OpenTransaction<true> | null {
    if (!isInTransaction(tx)) return null;
    const handle = this.#handleOf(tx);
    return { isSync: true, batch: (statements) => handle.runInSavepoint(statements) };
  }

  /** A number that changes with each commit of another connection; undefined while it cannot be read. */
  dataVersion(): number | undefined {
    if (this.#db.inTransaction) return undefined;
    try {
      return this.#handle.withoutLockWait(() => this.#handle.dataVersion());
    } catch (error) {
      if (isLocked(error)) return undefined;
      throw error;
    }
  }

  optimize(): Promise<void> {
    return this.#whenFree(() => this.#handle.withoutLockWait(() => this.#handle.optimize()));
  }

  /** Resolves when every submitted call is settled. */
  async idle(): Promise<void> {
    await Promise.all([this.#writes.idle(), this.#reads.idle()]);
  }

  #runGroup(group: readonly GroupMember[], begin: Begin): Outcome[] | Promise<Outcome[]> {
    const handle = this.#handle;
    const work = () => handle.withoutLockWait(() => commitGroup(handle, group, begin, this.#skipsSync));
    try {
      if (this.#exclusiveUse === undefined) return work();
    } catch (error) {
      if (!isLocked(error)) throw error;
    }
    return this.#whenFree(work);
  }

  #whenFree<T>(work: () => T): Promise<T> {
    const attempt = async () => {
      while (this.#exclusiveUse) await this.#exclusiveUse;
      return work();
    };
    return retryWhileBusy(attempt, isLocked, this.#busyTimeoutMs);
  }

  #handleOf(db: BetterSqlite3Like): BorrowedHandle {
    if (db === this.#db) return this.#handle;
    const handle = this.#otherHandles.get(db) ?? new BorrowedHandle(db);
    this.#otherHandles.set(db, handle);
    return handle;
  }
}
