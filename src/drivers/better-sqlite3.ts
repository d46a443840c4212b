/**
 * The driver for better-sqlite3, on Node.js. It has interactive transactions. There is no push: commits of other
 * connections to the file are noticed by polling its data version.
 */

import type { Executor, Limits, Row } from "../core/executor.ts";
import { sqlite } from "../protocol/sqlite.ts";
import { checkClient, checkOptions } from "./shared/check-arguments.ts";
import { type BetterSqlite3Like, databaseIdOf } from "./sqlite/better-sqlite3-client.ts";
import { classify } from "./sqlite/better-sqlite3-errors.ts";
import { BetterSqlite3Scheduler } from "./sqlite/better-sqlite3-scheduler.ts";
import { dataVersionListener } from "./sqlite/data-version.ts";

export type { BetterSqlite3Like, BetterSqlite3StatementLike } from "./sqlite/better-sqlite3-client.ts";

/** How the driver uses the handle. */
export interface BetterSqlite3Options {
  /**
   * `"wal"` switches the file to the write-ahead log before the first statement, so that readers and the writer
   * do not block each other; the file stays in that mode. `"keep"` leaves it as it is.
   * @default "wal"
   */
  readonly journalMode?: "wal" | "keep" | undefined;
  /**
   * How commits on this handle are synced, from the first statement on. `"full"` syncs each commit, so that a power
   * failure loses no accepted task; writes of the same tick share one sync. The default syncs all commits but claims: a
   * power failure may undo a claim, and then its task is queued again. `"normal"` is several times as fast; a power
   * failure may undo the last commits, while a crash of the process undoes none. `"keep"` leaves the handle's setting
   * unchanged; better-sqlite3 sets `"normal"` when it enters the write-ahead log.
   * @default "full" except for claims in the write-ahead log, else "keep"
   */
  readonly synchronous?: "keep" | "normal" | "full" | "extra" | undefined;
  /**
   * Longest wait for a lock, in milliseconds. Minimum `0`.
   * @default the handle's busy timeout, or 5000 if it has none
   */
  readonly busyTimeoutMs?: number | undefined;
  /**
   * Whether waits and workers are notified of commits by other connections, found by reading `pragma data_version`
   * every 20 to 50 ms while a wait or a worker is active. @default true for a file
   */
  readonly listen?: boolean | undefined;
}

// SQLite's limit is 1 GB and a V8 string ends at 512 MB, but parsing this much JSON already takes half a second.
const LIMITS: Limits = { maxParamBytes: 64 * 1024 * 1024, maxBatchStatements: 1000 };

/**
 * An executor on a better-sqlite3 handle, which the application configures and closes.
 *
 * Writes submitted in the same tick are committed together and settle after that COMMIT; each still succeeds or
 * fails alone. Waiting for a lock never blocks the event loop: during Wadi's statements the handle's busy timeout is 0,
 * and afterwards what it was when this function was called. While you hold a transaction open on the same handle, a
 * worker waits for its end as for any lock, and your other calls fail immediately: see `wadi.with(db)`. A handle opened
 * only for Wadi with `{ timeout: 0 }` saves one or two microseconds a call, because its timeout need not be changed.
 *
 * @example
 * ```ts
 * import Database from "better-sqlite3";
 * import { Wadi } from "wadi";
 * import { betterSqlite3 } from "wadi/better-sqlite3";
 *
 * const wadi = new Wadi(betterSqlite3(new Database("app.db")));
 * ```
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
  const isLog = options.journalMode !== "keep" && !db.memory;
  const synchronous = options.synchronous ?? (isLog ? "full" : "keep");
  const connection = new BetterSqlite3Scheduler(db, {
    pragmas: [
      ...(isLog ? ["journal_mode = wal"] : []),
      ...(synchronous === "keep" ? [] : [`synchronous = ${synchronous}`]),
    ],
    skipsSync: isLog && options.synchronous === undefined,
    busyTimeoutMs: options.busyTimeoutMs,
  });
  const traits = {
    name: "better-sqlite3",
    dialect: "sqlite",
    protocol: sqlite,
    limits: LIMITS,
    database: databaseIdOf(db),
    classify,
  } as const;
  // A database in memory has no other connections.
  const isFile = typeof traits.database === "string";
  return {
    ...traits,
    ...(isFile &&
      (options.listen ?? true) && { listen: dataVersionListener(() => connection.dataVersion()) }),
    run: (statement, sendOptions) =>
      new Promise((resolve, reject) => {
        const resolveOne = (results: Row[][]) => resolve(results[0]!);
        connection.submit({ statements: [statement], resolve: resolveOne, reject }, sendOptions);
      }),
    batch: (statements, sendOptions) =>
      new Promise((resolve, reject) => {
        if (statements.length === 0) return resolve([]);
        connection.submit({ statements, mayBeLost: sendOptions?.mayBeLost, resolve, reject }, sendOptions);
      }),
    transaction: (fn) => connection.transaction(traits, fn),
    within: (tx) => connection.openTransaction(tx),
    optimize: () => connection.optimize(),
    close: () => connection.idle(),
  };
}
