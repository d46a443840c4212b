/**
 * The driver for libSQL and Turso, with `@libsql/client` on Node.js and its web build elsewhere. It has no
 * interactive transactions. There is no push: commits of other connections to a file are noticed by polling its data
 * version, and with a server waits and workers poll.
 */

import type { Executor, Limits, SendOptions } from "../core/executor.ts";
import { sqlite } from "../protocol/sqlite.ts";
import { checkClient, checkOptions } from "./shared/check-arguments.ts";
import { dataVersionListener } from "./sqlite/data-version.ts";
import {
  isLibsqlStatement,
  isOpenTransaction,
  type LibsqlClientLike,
  type LibsqlResultLike,
  type LibsqlStatement,
  toLibsql,
  toRows,
} from "./sqlite/libsql-client.ts";
import { classify, refusingOpenTransaction } from "./sqlite/libsql-errors.ts";
import { LibsqlFile } from "./sqlite/libsql-file.ts";

export type { LibsqlClientLike, LibsqlResultLike, LibsqlStatement } from "./sqlite/libsql-client.ts";

/** How the driver uses the client. */
export interface LibsqlOptions {
  /**
   * `"wal"` switches a `file:` database to the write-ahead log before the first statement; `"keep"` leaves it
   * as it is. A server decides for itself.
   * @default "wal"
   */
  readonly journalMode?: "wal" | "keep" | undefined;
  /** Longest wait for a lock on a `file:` database, in milliseconds. Minimum `0`. @default 5000 */
  readonly busyTimeoutMs?: number | undefined;
  /**
   * Whether waits and workers are notified of commits by other connections to a `file:` database, found by reading
   * `pragma data_version` every 20 to 50 ms while a wait or a worker is active. Turn it off for an embedded replica,
   * whose changes arrive with `sync()`.
   * @default true for a `file:` database
   */
  readonly listen?: boolean | undefined;
}

// A local file takes what V8 can build; a server's rows end at 5 MB by default, and a row has more than one column.
const FILE_LIMITS: Limits = { maxParamBytes: 64 * 1024 * 1024, maxBatchStatements: 1000 };
const SERVER_LIMITS: Limits = {
  maxParamBytes: 4_000_000,
  maxBatchStatements: 1000,
  maxResponseBytes: 10_000_000, // the default of sqld
};

/**
 * Words of statements that may need the write lock. A read that contains one is taken for a write, which costs time
 * only.
 */
const WRITES = /\b(?:insert|update|delete|replace|create|alter|drop|analyze|vacuum|reindex)\b/i;

/**
 * An executor on a libSQL client, which the application closes: `file:`, `:memory:`, HTTP and the web build.
 *
 * On a `file:` database the client blocks the event loop while it waits for a lock, for at most its `timeout` option,
 * which is 0 by default. Leave it at 0: Wadi waits for locks without blocking. After a lock the client needs a
 * `reconnect()` to commit batches again; Wadi calls it, and that ends a read transaction you have open on the client.
 *
 * @example
 * ```ts
 * import { createClient } from "@libsql/client";
 * import { Wadi } from "wadi";
 * import { libsql } from "wadi/libsql";
 *
 * const client = createClient({ url: env.TURSO_DATABASE_URL!, authToken: env.TURSO_AUTH_TOKEN! });
 * const wadi = new Wadi(libsql(client));
 * ```
 */
export function libsql(
  client: LibsqlClientLike,
  options: LibsqlOptions = {},
): Executor<LibsqlStatement, false> {
  checkClient("libsql", client, "a client of @libsql/client", ["execute", "batch"]);
  checkOptions("libsql", options, {
    journalMode: ["wal", "keep"],
    busyTimeoutMs: "milliseconds",
    listen: "boolean",
  });
  const file = client.protocol === "file" ? new LibsqlFile(client, options) : undefined;
  const send = (call: () => Promise<LibsqlResultLike[]>, isWrite: boolean, sendOptions?: SendOptions) => {
    const request = sendOptions?.openTransaction === "refuse" ? refusingOpenTransaction(call) : call;
    return file === undefined ? request() : file.send(request, isWrite);
  };
  const sendAll = async (statements: readonly LibsqlStatement[], sendOptions?: SendOptions) =>
    (await send(() => client.batch([...statements], "write"), true, sendOptions)).map(toRows);
  return {
    name: "libsql",
    dialect: "sqlite",
    protocol: sqlite,
    limits: file === undefined ? SERVER_LIMITS : FILE_LIMITS,
    database: client,
    classify,
    async run(statement, sendOptions) {
      // Not execute() for a file: after a lock it reports success for a write that it never commits.
      const execute = async () =>
        file === undefined
          ? [await client.execute(toLibsql(statement))]
          : client.batch([toLibsql(statement)], "deferred");
      const [result] = await send(execute, WRITES.test(statement.sql), sendOptions);
      return toRows(result!);
    },
    batch: async (statements, sendOptions) =>
      statements.length === 0 ? [] : sendAll(statements.map(toLibsql), sendOptions),
    native: {
      prepare: (statements) => statements.map(toLibsql),
      is: isLibsqlStatement,
      batch: (statements) => sendAll(statements),
      rows: (result) => toRows(result as LibsqlResultLike),
    },
    within: (tx) =>
      isOpenTransaction(tx)
        ? {
            isSync: false,
            batch: async (statements) => (await tx.batch(statements.map(toLibsql))).map(toRows),
          }
        : null,
    ...(file !== undefined && {
      ...((options.listen ?? true) && { listen: dataVersionListener(() => file.dataVersion()) }),
      optimize: () => file.optimize(), // a server does it by itself
    }),
    async close() {},
  };
}
