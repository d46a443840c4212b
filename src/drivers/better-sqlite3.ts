import type { Executor, Limits, Row, SendOptions } from "../core/executor.ts";
import { sqlite } from "../protocol/sqlite.ts";
import { checkClient, checkOptions } from "./shared/options.ts";
import {
  type BetterSqlite3Like,
  borrow,
  classify,
  databaseOf,
  type Handle,
  isInTransaction,
  OwnTransaction,
} from "./sqlite/better-sqlite3-handle.ts";
import { DEFAULT_BUSY_TIMEOUT_MS, retryWhileBusy } from "./sqlite/busy-retry.ts";
import { dataVersionListener } from "./sqlite/data-version.ts";
import { groupQueue, type Member, type Outcome } from "./sqlite/group-queue.ts";
import { isExhausted } from "./sqlite/sqlite-errors.ts";

export type { BetterSqlite3Like, BetterSqlite3StatementLike } from "./sqlite/better-sqlite3-handle.ts";

export interface BetterSqlite3Options {
  /**
   * `"wal"` switches the file to the write-ahead log before the first statement, so that readers and the writer
   * do not block each other; the file stays in that mode. `"keep"` leaves it as it is.
   * @default "wal"
   */
  readonly journalMode?: "wal" | "keep" | undefined;
  /**
   * How this handle syncs commits from the first statement on. `"full"` syncs each, so that a task that was accepted
   * survives a power failure; writes of the same tick share one sync. The default does so too, but for claims: the power
   * may take one back, and the task is queued then. `"normal"` is several times as fast and may lose
   * the last commits with the power, though nothing with a crash of the process. better-sqlite3 lowers a handle to it
   * on entering the write-ahead log. `"keep"` leaves it to you.
   * @default "full" but for claims in the write-ahead log, else "keep"
   */
  readonly synchronous?: "keep" | "normal" | "full" | "extra" | undefined;
  /** Longest wait for a lock, in milliseconds. Minimum `0`. @default the handle's own busy timeout, or 5000 if it has none */
  readonly busyTimeoutMs?: number | undefined;
  /**
   * Whether waits and workers hear of the commits of other connections, by a read of `pragma data_version` every 20 to 50 ms while
   * something waits or works. @default true for a file
   */
  readonly listen?: boolean | undefined;
}

// SQLite's own limit is 1 GB and a V8 string ends at 512 MB, but parsing this much JSON already takes half a second.
const LIMITS: Limits = { maxParamBytes: 64 * 1024 * 1024, maxBatchStatements: 1000 };
const MAX_GROUP_STATEMENTS = 1000;

/**
 * An executor on a better-sqlite3 handle, which stays yours to configure and to close.
 *
 * Writes submitted in the same tick are committed together and settle after that COMMIT; each still succeeds or
 * fails by itself. Waiting for a lock never holds the event loop: the handle's busy timeout, as it was when this was
 * called, is set to 0 during Wadi's own statements. While you hold a transaction open on the same handle, a
 * worker waits for its end as for any lock, and a call of yours is refused at once: see `wadi.with(db)`. A handle opened
 * for Wadi alone with `{ timeout: 0 }` saves a microsecond or two a call, because there is no timeout to put aside.
 */
export function betterSqlite3(
  db: BetterSqlite3Like,
  options: BetterSqlite3Options = {},
): Executor<never, true> {
  checkClient("betterSqlite3", db, "a Database of better-sqlite3", ["prepare", "pragma"]);
  checkOptions("betterSqlite3", options, {
    journalMode: ["wal", "keep"],
    synchronous: ["keep", "normal", "full", "extra"],
    busyTimeoutMs: "milliseconds",
    listen: "boolean",
  });
  let skipsSyncs = false;
  const handle = borrow(db, () => {
    const isLog = options.journalMode !== "keep" && !db.memory;
    if (isLog) db.pragma("journal_mode = wal");
    const synchronous = options.synchronous ?? (isLog ? "full" : "keep");
    skipsSyncs = isLog && options.synchronous === undefined;
    if (synchronous !== "keep") db.pragma(`synchronous = ${synchronous}`);
  });
  const busyTimeoutMs = options.busyTimeoutMs ?? (handle.busyTimeoutMs || DEFAULT_BUSY_TIMEOUT_MS);
  const others = new WeakMap<object, Handle>(); // other handles on the same file whose transactions were lent
  let held: Promise<void> | undefined; // while transaction() has the handle for itself

  const isLocked = (error: unknown) => classify(error) === "busy" && !isExhausted(error);
  const isSingle = ({ statements }: Member) => statements.length === 1;
  const runAll = ({ statements }: Member) => statements.map(handle.query);

  /** One member by itself, so that its failure is its own; but a lock, or a transaction gone, is everyone's. */
  function isolate(member: Member, inTransaction: boolean, run: (member: Member) => Row[][]): Outcome {
    try {
      return { results: run(member) };
    } catch (error) {
      if (isLocked(error) || handle.inTransaction !== inTransaction) throw error;
      return { error };
    }
  }

  /** What is written to the log is safe from a crash of the process; the sync of a later commit keeps it for good. */
  function unsynced<T>(work: () => T): T {
    db.exec("pragma synchronous = normal");
    try {
      return work();
    } finally {
      db.exec("pragma synchronous = full");
    }
  }

  function runGroup(group: readonly Member[], begin: string, isWrite: boolean): Outcome[] {
    // One statement is atomic without BEGIN and COMMIT, and single reads have nothing to commit together.
    if (group.every(isSingle) && (group.length === 1 || !isWrite)) {
      return group.map((member) => isolate(member, false, runAll));
    }
    if (group.length === 1) {
      const transact = () =>
        isolate(group[0]!, false, (member) => handle.transact(begin, () => runAll(member)));
      return [group[0]!.mayBeLost && skipsSyncs ? unsynced(transact) : transact()];
    }
    const inGroup = (member: Member) =>
      isSingle(member) ? runAll(member) : handle.nested(member.statements);
    return handle.transact(begin, () => group.map((member) => isolate(member, true, inGroup)));
  }

  function runWhenFree(
    group: readonly Member[],
    begin: string,
    isWrite: boolean,
  ): Outcome[] | Promise<Outcome[]> {
    const work = () => handle.section(() => runGroup(group, begin, isWrite));
    try {
      if (held === undefined) return work();
    } catch (error) {
      if (!isLocked(error)) throw error;
    }
    return whenFree(work);
  }

  function whenFree<T>(work: () => T): Promise<T> {
    const attempt = async () => {
      while (held) await held;
      return work();
    };
    return retryWhileBusy(attempt, isLocked, busyTimeoutMs);
  }

  const writes = groupQueue((group) => runWhenFree(group, "begin immediate", true), MAX_GROUP_STATEMENTS);
  // Apart from the writes, because a read need not wait for a lock that another process holds.
  const reads = groupQueue((group) => runWhenFree(group, "begin", false), MAX_GROUP_STATEMENTS);
  const add = (member: Member, options: SendOptions | undefined) => {
    if (options?.openTransaction === "refuse" && held === undefined && handle.inTransaction)
      throw new OwnTransaction();
    (handle.isRead(member.statements) ? reads : writes).add(member);
  };

  /** Runs `fn` in the transaction that was just begun, and ends it. */
  async function interact<T>(fn: (tx: Executor) => Promise<T>): Promise<T> {
    let isOpen = true;
    const within = async <R>(work: () => R): Promise<R> => {
      if (!isOpen) throw new Error("this transaction has ended; its executor cannot be used any more");
      return work();
    };
    try {
      const result = await fn({
        ...traits,
        run: (statement) => within(() => handle.query(statement)),
        batch: (statements) => within(() => handle.nested(statements)),
        close: async () => {},
      });
      handle.control("commit");
      return result;
    } finally {
      isOpen = false;
      if (handle.inTransaction) handle.control("rollback");
    }
  }

  function dataVersion(): number | undefined {
    if (db.inTransaction) return undefined;
    try {
      return handle.section(handle.dataVersion);
    } catch (error) {
      if (isLocked(error)) return undefined;
      throw error;
    }
  }

  const traits = {
    name: "better-sqlite3",
    dialect: "sqlite",
    protocol: sqlite,
    limits: LIMITS,
    database: databaseOf(db),
    classify,
  } as const;
  return {
    ...traits,
    // A database in memory has no other connections.
    ...((options.listen ?? true) &&
      typeof traits.database === "string" && { listen: dataVersionListener(dataVersion) }),
    run: (statement, options) =>
      new Promise((resolve, reject) => {
        add({ statements: [statement], resolve: (results) => resolve(results[0]!), reject }, options);
      }),
    batch: (statements, options) =>
      new Promise((resolve, reject) => {
        if (statements.length === 0) resolve([]);
        else add({ statements, mayBeLost: options?.mayBeLost, resolve, reject }, options);
      }),
    async transaction(fn) {
      while (held) await held;
      let release = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      try {
        await retryWhileBusy(
          () => handle.section(() => handle.control("begin immediate")),
          isLocked,
          busyTimeoutMs,
        );
        return await interact(fn);
      } finally {
        held = undefined;
        release();
      }
    },
    within(tx) {
      if (!isInTransaction(tx)) return null;
      let own = handle;
      if (tx !== db) {
        own = others.get(tx) ?? borrow(tx, () => {});
        others.set(tx, own);
      }
      return { isSync: true, batch: own.nested };
    },
    optimize: () => whenFree(() => handle.section(handle.optimize)),
    async close() {
      await Promise.all([writes.idle(), reads.idle()]);
    },
  };
}
