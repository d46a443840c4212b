// The part of better-sqlite3 that Wadi uses, so that the driver does not import the package.

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

/** What identifies the database in this process: its file, or the handle itself for a database in memory. */
export function databaseIdOf(db: BetterSqlite3Like): string | object {
  const list = db.pragma("database_list") as readonly { readonly name: string; readonly file: string }[];
  const file = list.find(({ name }) => name === "main")?.file;
  return file ? `sqlite:${file}` : db;
}

/** Whether `tx` is a handle with an open transaction. */
export function isInTransaction(tx: unknown): tx is BetterSqlite3Like {
  const db = tx as BetterSqlite3Like | null | undefined;
  return typeof db?.prepare === "function" && db.inTransaction === true;
}
