import type { Executor, Limits, Row, SendOptions, Statement, Value } from "../core/executor.ts";
import { sqlite } from "../protocol/sqlite.ts";
import { checkClient, checkOptions } from "./shared/options.ts";
import { DEFAULT_BUSY_TIMEOUT_MS, retryWhileBusy } from "./sqlite/busy-retry.ts";
import { dataVersionListener } from "./sqlite/data-version.ts";
import { classify, type LibsqlErrorLike, refusing } from "./sqlite/libsql-errors.ts";
import { isExhausted } from "./sqlite/sqlite-errors.ts";

export interface LibsqlStatement {
  sql: string;
  args: Value[];
}

export interface LibsqlResultLike {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly [column: number]: unknown }[];
}

/** The part of a `@libsql/client` client that Wadi uses; its Node, web and HTTP builds all fit. */
export interface LibsqlClientLike {
  readonly protocol: string;
  execute(statement: LibsqlStatement): Promise<LibsqlResultLike>;
  batch(statements: LibsqlStatement[], mode: "write" | "deferred"): Promise<LibsqlResultLike[]>;
  executeMultiple(sql: string): Promise<void>;
  reconnect(): void | Promise<void>;
}

/** The part of what `client.transaction("write")` gives that Wadi uses. */
interface LibsqlTransactionLike {
  readonly closed: boolean;
  batch(statements: LibsqlStatement[]): Promise<LibsqlResultLike[]>;
  commit(): Promise<void>;
}

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
   * Whether waits and workers hear of what other connections commit to a `file:` database, by a read of `pragma data_version`
   * every 20 to 50 ms while something waits or works. Turn it off for an embedded replica, whose changes come by `sync()`.
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

/** Statistics of every table that has none yet or grew a lot since, from about 400 rows of each index. */
const OPTIMIZE = "pragma analysis_limit = 400; pragma optimize = 0x10002; pragma analysis_limit = 0";

/**
 * An executor on a libSQL client, which stays yours to close: `file:`, `:memory:`, HTTP and the web build.
 *
 * On a `file:` database the client blocks the event loop for as long as its own `timeout` option says, which is 0
 * unless you set it: leave it there, Wadi waits for locks without blocking. After it met a lock, the client needs a
 * `reconnect()` to commit batches again; Wadi calls it, and a read transaction you have open on that client ends.
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
  const isFile = client.protocol === "file";
  const file = isFile ? fileSender(client, options) : undefined;
  const sendPatiently: Send = file?.send ?? ((call) => call());
  const send = (call: Call, isWrite: boolean, { openTransaction }: SendOptions = {}) =>
    sendPatiently(openTransaction === "refuse" ? refusing(call) : call, isWrite);
  const sendAll = async (statements: readonly LibsqlStatement[], sendOptions?: SendOptions) =>
    (await send(() => client.batch([...statements], "write"), true, sendOptions)).map(toRows);
  return {
    name: "libsql",
    dialect: "sqlite",
    protocol: sqlite,
    limits: isFile ? FILE_LIMITS : SERVER_LIMITS,
    database: client,
    classify,
    async run(statement, sendOptions) {
      const [result] = await send(
        async () =>
          // On a connection that met a lock before, execute() reports success for a write it never commits.
          isFile
            ? client.batch([toLibsql(statement)], "deferred")
            : [await client.execute(toLibsql(statement))],
        WRITES.test(statement.sql),
        sendOptions,
      );
      return toRows(result!);
    },
    batch: async (statements, sendOptions) =>
      statements.length === 0 ? [] : sendAll(statements.map(toLibsql), sendOptions),
    native: {
      prepare: (statements) => statements.map(toLibsql),
      is: (value): value is LibsqlStatement =>
        typeof (value as LibsqlStatement | null)?.sql === "string" &&
        (value as LibsqlStatement).args !== undefined,
      batch: (statements) => sendAll(statements),
      rows: (result) => toRows(result as LibsqlResultLike),
    },
    within(tx) {
      const { commit, batch, closed } = (tx ?? {}) as Partial<LibsqlTransactionLike>;
      if (typeof commit !== "function" || typeof batch !== "function" || closed !== false) return null;
      return {
        isSync: false,
        batch: async (statements) =>
          (await (tx as LibsqlTransactionLike).batch(statements.map(toLibsql))).map(toRows),
      };
    },
    ...(file !== undefined &&
      (options.listen ?? true) && {
        listen: dataVersionListener(async () => {
          try {
            const [result] = await send(async () => [await client.execute(DATA_VERSION)], false);
            return `${file.reconnects()}:${result!.rows[0]![0]}`;
          } catch (error) {
            if (isLocked(error)) return undefined;
            throw error;
          }
        }),
      }),
    // A server keeps its own.
    ...(isFile && {
      async optimize() {
        await send(async () => {
          await client.executeMultiple(OPTIMIZE);
          return [];
        }, false);
      },
    }),
    async close() {},
  };
}

/** How long a file counts as shared after a write met somebody's lock. */
const SHARED_MS = 60_000;

/** What may need the write lock. One that does not, and has such a word in a text, waits for it once in a while. */
const WRITES = /\b(?:insert|update|delete|replace|create|alter|drop|analyze|vacuum|reindex)\b/i;

/** Counts the commits of other connections, for each connection anew. */
const DATA_VERSION: LibsqlStatement = { sql: "pragma data_version", args: [] };

type Call = () => Promise<LibsqlResultLike[]>;
type Send = (call: Call, isWrite: boolean) => Promise<LibsqlResultLike[]>;

/**
 * Waits for locks on a `file:` client, and cures what they leave behind: the client never finalizes a statement that
 * met a lock, and beside it SQLite refuses every later COMMIT of that connection ("SQL statements in progress").
 */
function fileSender(
  client: LibsqlClientLike,
  options: LibsqlOptions,
): { readonly send: Send; reconnects(): number } {
  let reconnects = 0;
  let last: Promise<unknown> = Promise.resolve();
  let isConfigured = options.journalMode === "keep";
  let needsReconnect = false;
  // A statement that met a lock keeps its view of the file until it is garbage, and no checkpoint gets past that: the
  // write-ahead log would grow without end. So where others write too, writes ask for the lock first.
  let sharedUntilMs = 0;

  async function attempt(call: Call, isWrite: boolean): Promise<LibsqlResultLike[]> {
    if (needsReconnect) {
      // Only while the lock is free: reconnecting would cut off the transaction of the owner that may hold it.
      if (!(await isLockFree(client))) throw new StillLocked();
      await client.reconnect();
      needsReconnect = false;
      reconnects++;
    } else if (isWrite && Date.now() < sharedUntilMs && !(await isLockFree(client))) throw new StillLocked();
    try {
      if (!isConfigured) await client.execute({ sql: "pragma journal_mode = wal", args: [] });
      isConfigured = true;
      return await call();
    } catch (error) {
      // By its code: a database in memory has locks of another kind, and would be gone after a reconnect.
      if ((error as LibsqlErrorLike).code === "SQLITE_BUSY") {
        needsReconnect = true;
        sharedUntilMs = Date.now() + SHARED_MS;
      }
      throw error;
    }
  }

  const send: Send = (call, isWrite) =>
    retryWhileBusy(
      () => {
        const turn = last.then(() => attempt(call, isWrite)); // one at a time: reconnect() fails what is in flight
        last = turn.catch(() => {});
        return turn;
      },
      isLocked,
      options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS,
    );
  return { send, reconnects: () => reconnects };
}

/** True if the write lock is free. Unlike the client's other calls, this one leaves nothing behind where it is not. */
async function isLockFree(client: LibsqlClientLike): Promise<boolean> {
  try {
    await client.executeMultiple("begin immediate; commit");
    return true;
  } catch (error) {
    if (isSpoilt(error)) return true; // it came as far as the COMMIT
    if (isLocked(error)) return false;
    throw error;
  }
}

function isSpoilt(error: unknown): boolean {
  return error instanceof Error && error.message.includes("SQL statements in progress");
}

class StillLocked extends Error {
  readonly code = "SQLITE_BUSY";
  constructor() {
    super("database is locked");
  }
}

function isLocked(error: unknown): boolean {
  return classify(error) === "busy" && !isExhausted(error);
}

function toLibsql({ sql, params }: Statement): LibsqlStatement {
  return { sql, args: [...params] };
}

function toRows({ columns, rows }: LibsqlResultLike): Row[] {
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, toValue(row[index])])));
}

function toValue(value: unknown): Value {
  if (typeof value !== "bigint") return value as Value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}
