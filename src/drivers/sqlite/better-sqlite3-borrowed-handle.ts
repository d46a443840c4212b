import type { Row, Statement } from "../../core/executor.ts";
import type { BetterSqlite3Like, BetterSqlite3StatementLike } from "./better-sqlite3-client.ts";
import { HandleInTransaction } from "./better-sqlite3-errors.ts";
import { ANALYSIS_LIMIT, OPTIMIZE } from "./optimize-pragma.ts";

/** A statement and its properties, which are calls into the engine and so are read once. */
interface Prepared {
  readonly statement: BetterSqlite3StatementLike;
  readonly isReader: boolean;
  readonly isReadonly: boolean;
}

const MAX_CACHED_STATEMENTS = 500;

/**
 * The application's better-sqlite3 handle, as Wadi uses it: cached statements, transactions, savepoints, and settings
 * that are restored after each use.
 */
export class BorrowedHandle {
  /** The handle's busy timeout in milliseconds when it was borrowed. */
  readonly busyTimeoutMs: number;
  readonly #db: BetterSqlite3Like;
  readonly #pragmas: readonly string[];
  readonly #setsBusyTimeout: boolean;
  readonly #restoreBusyTimeout: string;
  readonly #cache = new Map<string, Prepared>();
  #isConfigured = false;

  /** @param pragmas Set once, before the first work. */
  constructor(db: BetterSqlite3Like, pragmas: readonly string[] = []) {
    this.#db = db;
    this.#pragmas = pragmas;
    this.busyTimeoutMs = Number(db.pragma("busy_timeout", { simple: true }));
    this.#setsBusyTimeout = this.busyTimeoutMs > 0 && !db.memory;
    this.#restoreBusyTimeout = `pragma busy_timeout = ${this.busyTimeoutMs}`;
  }

  get inTransaction(): boolean {
    return this.#db.inTransaction;
  }

  /**
   * Runs `work`, in which a lock is an error and does not block the thread.
   *
   * @throws {HandleInTransaction} while the application has a transaction open on the handle.
   */
  withoutLockWait<T>(work: () => T): T {
    const db = this.#db;
    if (db.inTransaction) throw new HandleInTransaction();
    if (this.#setsBusyTimeout) db.exec("pragma busy_timeout = 0"); // exec is three times cheaper than a prepared pragma
    try {
      this.#configure();
      return work();
    } finally {
      if (this.#setsBusyTimeout) db.exec(this.#restoreBusyTimeout);
    }
  }

  /** Runs `work`, whose commits may be lost by a power failure until the next synced one, though not by a crash. */
  withoutSync<T>(work: () => T): T {
    this.#db.exec("pragma synchronous = normal");
    try {
      return work();
    } finally {
      this.#db.exec("pragma synchronous = full");
    }
  }

  /** Runs `work` between `begin` and COMMIT; if it throws, everything is rolled back. */
  transact<T>(begin: string, work: () => T): T {
    this.command(begin);
    try {
      const result = work();
      this.command("commit");
      return result;
    } catch (error) {
      if (this.#db.inTransaction) this.command("rollback");
      throw error;
    }
  }

  /** Runs `statements` inside an open transaction: all of them or, on an error, none. */
  runInSavepoint(statements: readonly Statement[]): Row[][] {
    this.command("savepoint wadi");
    try {
      return statements.map((statement) => this.query(statement));
    } catch (error) {
      if (this.#db.inTransaction) this.command("rollback to wadi");
      throw error;
    } finally {
      if (this.#db.inTransaction) this.command("release wadi");
    }
  }

  query({ sql, params }: Statement): Row[] {
    const { statement, isReader } = this.#prepare(sql);
    if (isReader) return statement.all(params) as Row[];
    statement.run(params); // all() refuses a statement without columns
    return [];
  }

  /** Runs a statement without parameters or rows, such as BEGIN. */
  command(sql: string): void {
    this.#prepare(sql).statement.run();
  }

  /** Whether none of the statements writes. */
  isReadOnly(statements: readonly Statement[]): boolean {
    try {
      return statements.every(({ sql }) => this.#prepare(sql).isReadonly);
    } catch {
      return false; // wrong, or in need of a table that the same batch creates: the run will show which
    }
  }

  /** Updates the planner's statistics, reading little of each index. */
  optimize(): void {
    const db = this.#db;
    const limit = Number(db.pragma("analysis_limit", { simple: true }));
    db.pragma(`analysis_limit = ${ANALYSIS_LIMIT}`);
    try {
      db.exec(OPTIMIZE);
    } finally {
      db.pragma(`analysis_limit = ${limit}`);
    }
  }

  /** A number that changes with each commit of another connection. */
  dataVersion(): number {
    return Number(this.query({ sql: "pragma data_version", params: [] })[0]!.data_version);
  }

  #configure(): void {
    if (this.#isConfigured) return;
    for (const pragma of this.#pragmas) this.#db.pragma(pragma);
    this.#isConfigured = true;
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#cache.get(sql);
    if (prepared === undefined) {
      const statement = this.#db.prepare(sql);
      prepared = { statement, isReader: statement.reader, isReadonly: statement.readonly };
      if (this.#cache.size >= MAX_CACHED_STATEMENTS) this.#cache.clear();
      this.#cache.set(sql, prepared);
    }
    return prepared;
  }
}
