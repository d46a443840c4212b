/** How the libSQL driver uses a client of a local file, which other connections may lock. */

import { SerialQueue } from "../shared/serial-queue.ts";
import { DEFAULT_BUSY_TIMEOUT_MS, retryWhileBusy } from "./busy-retry.ts";
import type { LibsqlClientLike, LibsqlResultLike, LibsqlStatement } from "./libsql-client.ts";
import { isLocked, isStatementInProgress, type LibsqlErrorLike, StillLocked } from "./libsql-errors.ts";
import { ANALYSIS_LIMIT, OPTIMIZE } from "./optimize-pragma.ts";

/** How long a file counts as shared after a write met the lock of another connection. */
const SHARED_MS = 60_000;

const DATA_VERSION: LibsqlStatement = { sql: "pragma data_version", args: [] };

type Call = () => Promise<LibsqlResultLike[]>;

export interface LibsqlFileOptions {
  readonly journalMode?: "wal" | "keep" | undefined;
  readonly busyTimeoutMs?: number | undefined;
}

/**
 * A libSQL client of a local file: waits for locks, and repairs the client after one. The client never finalizes a
 * statement that met a lock, and then SQLite refuses every later COMMIT of that connection ("SQL statements in
 * progress").
 */
export class LibsqlFile {
  readonly #client: LibsqlClientLike;
  readonly #busyTimeoutMs: number;
  readonly #calls = new SerialQueue(); // reconnect() would fail another call in flight
  #isConfigured: boolean;
  #needsReconnect = false;
  #reconnects = 0;
  // A statement that met a lock keeps its view of the file until it is garbage collected, and no checkpoint gets past
  // that view: the write-ahead log would grow without bound. So on a file that others write to, writes ask for the
  // lock first.
  #sharedUntilMs = 0;

  constructor(client: LibsqlClientLike, options: LibsqlFileOptions) {
    this.#client = client;
    this.#busyTimeoutMs = options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS;
    this.#isConfigured = options.journalMode === "keep";
  }

  /** Makes one call of the client, alone and after the locks of other connections. */
  send(call: Call, isWrite: boolean): Promise<LibsqlResultLike[]> {
    const attempt = () => this.#calls.run(() => this.#attempt(call, isWrite));
    return retryWhileBusy(attempt, isLocked, this.#busyTimeoutMs);
  }

  /** A text that changes with each commit of another connection; undefined while it cannot be read. */
  async dataVersion(): Promise<string | undefined> {
    try {
      const [result] = await this.send(async () => [await this.#client.execute(DATA_VERSION)], false);
      return `${this.#reconnects}:${result!.rows[0]![0]}`; // each connection counts from the start
    } catch (error) {
      if (isLocked(error)) return undefined;
      throw error;
    }
  }

  /** Updates the planner's statistics, reading little of each index. */
  async optimize(): Promise<void> {
    const sql = `pragma analysis_limit = ${ANALYSIS_LIMIT}; ${OPTIMIZE}; pragma analysis_limit = 0`;
    await this.send(async () => {
      await this.#client.executeMultiple(sql);
      return [];
    }, false);
  }

  async #attempt(call: Call, isWrite: boolean): Promise<LibsqlResultLike[]> {
    if (this.#needsReconnect) {
      // Only while the lock is free: reconnecting would cut off a transaction of the application, which may hold it.
      if (!(await this.#isLockFree())) throw new StillLocked();
      await this.#client.reconnect();
      this.#needsReconnect = false;
      this.#reconnects++;
    } else if (isWrite && Date.now() < this.#sharedUntilMs && !(await this.#isLockFree())) {
      throw new StillLocked();
    }
    try {
      if (!this.#isConfigured) await this.#client.execute({ sql: "pragma journal_mode = wal", args: [] });
      this.#isConfigured = true;
      return await call();
    } catch (error) {
      // Not isLocked: a database in memory has locks with another code, and a reconnect would lose the database.
      if ((error as LibsqlErrorLike).code === "SQLITE_BUSY") {
        this.#needsReconnect = true;
        this.#sharedUntilMs = Date.now() + SHARED_MS;
      }
      throw error;
    }
  }

  /**
   * Whether the write lock is free. Unlike the client's other calls, this one leaves no statement behind if it is
   * not.
   */
  async #isLockFree(): Promise<boolean> {
    try {
      await this.#client.executeMultiple("begin immediate; commit");
      return true;
    } catch (error) {
      if (isStatementInProgress(error)) return true; // it got as far as the COMMIT
      if (isLocked(error)) return false;
      throw error;
    }
  }
}
