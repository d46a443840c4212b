import { Unsupported } from "../../core/errors/wadi-error.ts";
import type { ErrorClass, Row, Statement } from "../../core/executor.ts";
import { classifySqlite } from "./sqlite-errors.ts";

/** The part of a better-sqlite3 prepared statement that Wadi uses. */
export interface BetterSqlite3StatementLike {
  readonly reader: boolean;
  readonly readonly: boolean;
  all(...params: unknown[]): unknown[];
  run(...params: unknown[]): unknown;
}

/** The part of a better-sqlite3 `Database` that Wadi uses. */
export interface BetterSqlite3Like {
  readonly memory: boolean;
  readonly inTransaction: boolean;
  prepare(sql: string): BetterSqlite3StatementLike;
  exec(sql: string): unknown;
  pragma(source: string, options?: { simple?: boolean }): unknown;
}

export interface Handle {
  /** The handle's own busy timeout in milliseconds when it was borrowed. */
  readonly busyTimeoutMs: number;
  /** Runs `work` so that a lock fails at once instead of putting the thread to sleep. */
  section<T>(work: () => T): T;
  /** Runs `work` between `begin` and COMMIT; if it throws, nothing of it stays. */
  transact<T>(begin: string, work: () => T): T;
  /** Runs `statements` inside an open transaction: all of them or, on an error, none. */
  nested(statements: readonly Statement[]): Row[][];
  query(statement: Statement): Row[];
  /** Runs a statement without parameters or rows, such as BEGIN. */
  control(sql: string): void;
  /** Brings the planner's statistics up to date, reading little of each index. */
  optimize(): void;
  /** Counts the commits of other connections. */
  dataVersion(): number;
  /** True if none of the statements writes. */
  isRead(statements: readonly Statement[]): boolean;
  readonly inTransaction: boolean;
}

/** A statement and what it is; the properties are calls into the engine, so they are read once. */
interface Prepared {
  readonly statement: BetterSqlite3StatementLike;
  readonly isReader: boolean;
  readonly isReadonly: boolean;
}

const MAX_CACHED_STATEMENTS = 500;

/** Rows of an index that an analysis reads about. */
const ANALYSIS_LIMIT = 400;

/** Prepared statements, transactions and locks on a borrowed handle. `configure` runs once, before the first work. */
export function borrow(db: BetterSqlite3Like, configure: () => void): Handle {
  const cache = new Map<string, Prepared>();
  const busyTimeoutMs = Number(db.pragma("busy_timeout", { simple: true }));
  const togglesTimeout = busyTimeoutMs > 0 && !db.memory;
  const restoreTimeout = `pragma busy_timeout = ${busyTimeoutMs}`;
  let isConfigured = false;

  function prepare(sql: string): Prepared {
    let prepared = cache.get(sql);
    if (prepared === undefined) {
      const statement = db.prepare(sql);
      prepared = { statement, isReader: statement.reader, isReadonly: statement.readonly };
      if (cache.size >= MAX_CACHED_STATEMENTS) cache.clear();
      cache.set(sql, prepared);
    }
    return prepared;
  }

  function query({ sql, params }: Statement): Row[] {
    const { statement, isReader } = prepare(sql);
    if (isReader) return statement.all(params) as Row[];
    statement.run(params); // all() refuses a statement without columns
    return [];
  }

  function control(sql: string): void {
    prepare(sql).statement.run();
  }

  return {
    busyTimeoutMs,
    query,
    control,
    get inTransaction() {
      return db.inTransaction;
    },
    section(work) {
      if (db.inTransaction) throw new OpenTransaction();
      if (togglesTimeout) db.exec("pragma busy_timeout = 0"); // exec is three times cheaper than a prepared pragma
      try {
        if (!isConfigured) configure();
        isConfigured = true;
        return work();
      } finally {
        if (togglesTimeout) db.exec(restoreTimeout);
      }
    },
    transact(begin, work) {
      control(begin);
      try {
        const result = work();
        control("commit");
        return result;
      } catch (error) {
        if (db.inTransaction) control("rollback");
        throw error;
      }
    },
    nested(statements) {
      control("savepoint wadi");
      try {
        return statements.map(query);
      } catch (error) {
        if (db.inTransaction) control("rollback to wadi");
        throw error;
      } finally {
        if (db.inTransaction) control("release wadi");
      }
    },
    optimize() {
      const limit = Number(db.pragma("analysis_limit", { simple: true }));
      db.pragma(`analysis_limit = ${ANALYSIS_LIMIT}`);
      try {
        db.pragma("optimize = 0x10002"); // every table that has no statistics yet or grew a lot since
      } finally {
        db.pragma(`analysis_limit = ${limit}`);
      }
    },
    dataVersion: () => Number(query({ sql: "pragma data_version", params: [] })[0]!.data_version),
    isRead(statements) {
      try {
        return statements.every(({ sql }) => prepare(sql).isReadonly);
      } catch {
        return false; // wrong, or in need of a table that the same batch creates: running it will tell
      }
    },
  };
}

/** What identifies the file in this process; a database in memory is its handle's alone. */
export function databaseOf(db: BetterSqlite3Like): string | object {
  const list = db.pragma("database_list") as readonly { readonly name: string; readonly file: string }[];
  const file = list.find(({ name }) => name === "main")?.file;
  return file ? `sqlite:${file}` : db;
}

/** Whether `tx` is a handle whose owner has begun a transaction. */
export function isInTransaction(tx: unknown): tx is BetterSqlite3Like {
  const db = tx as BetterSqlite3Like | null | undefined;
  return typeof db?.prepare === "function" && db.inTransaction === true;
}

export function classify(error: unknown): ErrorClass {
  if (!(error instanceof Error)) return "rejected";
  if (error.message === "The database connection is not open") return "unusable";
  if (error instanceof RangeError && /too big/.test(error.message)) return "invalid-value"; // no code: it was not bound
  // The engine runs in this thread, so its answer is never lost: what is not named is a refusal.
  return classifySqlite((error as { code?: string }).code, error.message) ?? "rejected";
}

class OpenTransaction extends Error {
  readonly code = "SQLITE_BUSY";
  constructor() {
    super("the better-sqlite3 handle is inside a transaction that its owner has not ended yet");
  }
}

/** A call that would wait for a transaction of the same handle, and may be what that transaction waits for. */
export class OwnTransaction extends Unsupported {
  constructor() {
    super(
      "the better-sqlite3 handle is inside a transaction that you began; make this call a part of it with wadi.with(db), or call after its end",
    );
  }
}
