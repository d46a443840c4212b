// Executes Hrana statements, batches and conditions on better-sqlite3, for the Hrana server of the tests.

import Database from "better-sqlite3";

export type HranaValue =
  | { type: "null" }
  | { type: "integer"; value: string }
  | { type: "float"; value: number }
  | { type: "text"; value: string }
  | { type: "blob"; base64: string };

export interface HranaStmt {
  sql?: string | null;
  sql_id?: number | null;
  args?: HranaValue[];
  named_args?: { name: string; value: HranaValue }[];
  want_rows?: boolean;
}

export type HranaCondition =
  | { type: "ok" | "error"; step: number }
  | { type: "not"; cond: HranaCondition }
  | { type: "and" | "or"; conds: HranaCondition[] }
  | { type: "is_autocommit" };

export interface HranaBatch {
  steps: { condition?: HranaCondition | null; stmt: HranaStmt }[];
}

/** An error of one request: it is reported inside the pipeline, and later requests still run. */
export class HranaError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const preparedOf = new WeakMap<Database.Database, Map<string, Database.Statement>>();

/** Prepared once for each connection: parsing the longer statements takes longer than running them. */
function prepare(db: Database.Database, sql: string): Database.Statement {
  const known = preparedOf.get(db) ?? new Map<string, Database.Statement>();
  preparedOf.set(db, known);
  const prepared = known.get(sql) ?? db.prepare(sql).safeIntegers(true);
  known.set(sql, prepared);
  return prepared;
}

export function executeStatement(db: Database.Database, sql: string, stmt: HranaStmt) {
  try {
    const prepared = prepare(db, sql);
    const args = bindings(stmt);
    if (!prepared.reader) {
      const info = prepared.run(...args);
      return result([], [], info.changes, String(info.lastInsertRowid));
    }
    const columns = prepared.columns().map(({ name, type }) => ({ name, decltype: type }));
    const before = totalChanges(db);
    const rows = prepared.raw(true).all(...args) as unknown[][];
    const changes = totalChanges(db) - before;
    return result(columns, stmt.want_rows === false ? [] : rows.map((row) => row.map(encode)), changes, null);
  } catch (error) {
    throw toHranaError(error);
  }
}

export function describeStatement(db: Database.Database, sql: string) {
  try {
    const prepared = db.prepare(sql);
    const cols = prepared.reader
      ? prepared.columns().map(({ name, type }) => ({ name, decltype: type }))
      : [];
    return { params: [], cols, is_explain: /^\s*explain\b/i.test(sql), is_readonly: prepared.readonly };
  } catch (error) {
    throw toHranaError(error);
  }
}

/** Runs the steps whose conditions hold. A step that fails is part of the answer, not an error of the batch. */
export async function executeBatch(
  batch: HranaBatch,
  execute: (stmt: HranaStmt) => Promise<unknown>,
  isAutocommit: () => boolean,
) {
  const results: unknown[] = [];
  const errors: ({ message: string; code: string } | null)[] = [];
  const holds = (condition: HranaCondition): boolean => {
    switch (condition.type) {
      case "ok":
        return results[condition.step] != null;
      case "error":
        return errors[condition.step] != null;
      case "not":
        return !holds(condition.cond);
      case "and":
        return condition.conds.every(holds);
      case "or":
        return condition.conds.some(holds);
      case "is_autocommit":
        return isAutocommit();
    }
  };
  for (const { condition, stmt } of batch.steps) {
    results.push(null);
    errors.push(null);
    if (condition && !holds(condition)) continue;
    try {
      results[results.length - 1] = await execute(stmt);
    } catch (error) {
      if (!(error instanceof HranaError)) throw error;
      errors[errors.length - 1] = { message: error.message, code: error.code };
    }
  }
  return { step_results: results, step_errors: errors };
}

export function toHranaError(error: unknown): unknown {
  if (error instanceof RangeError && /more than one statement/.test(error.message)) {
    return new HranaError("SQL_MANY_STATEMENTS", "SQL string contains more than one statement");
  }
  if (error instanceof RangeError && /no statements/.test(error.message)) {
    return new HranaError("SQL_NO_STATEMENT", "SQL string does not contain any statement");
  }
  if (/parameter/.test(String(error)) && !(error instanceof Database.SqliteError)) {
    return new HranaError(
      "ARGS_INVALID",
      `Arguments do not match SQL parameters: ${(error as Error).message}`,
    );
  }
  if (!(error instanceof Database.SqliteError)) return error;
  if (/syntax error|incomplete input|unrecognized token/.test(error.message)) {
    return new HranaError("SQL_PARSE_ERROR", `SQL string could not be parsed: ${error.message}`);
  }
  if (/no such column/.test(error.message)) {
    return new HranaError("SQL_INPUT_ERROR", `SQL input error: ${error.message} (at offset 0)`);
  }
  // sqld reports base codes only, and has no name for the most general one.
  const base = /^SQLITE_[A-Z]+/.exec(error.code)?.[0] ?? "SQLITE_UNKNOWN";
  return new HranaError(base === "SQLITE_ERROR" ? "SQLITE_UNKNOWN" : base, `SQLite error: ${error.message}`);
}

function result(cols: unknown[], rows: HranaValue[][], changes: number, lastInsertRowid: string | null) {
  return { cols, rows, affected_row_count: changes, last_insert_rowid: lastInsertRowid };
}

function totalChanges(db: Database.Database): number {
  return Number(prepare(db, "select total_changes()").pluck().get());
}

function bindings({ args = [], named_args = [] }: HranaStmt): unknown[] {
  if (named_args.length === 0) return args.map(decode);
  return [
    Object.fromEntries(named_args.map(({ name, value }) => [name.replace(/^[:@$]/, ""), decode(value)])),
  ];
}

function decode(value: HranaValue): unknown {
  switch (value.type) {
    case "null":
      return null;
    case "integer":
      return BigInt(value.value);
    case "float":
    case "text":
      return value.value;
    case "blob":
      return Buffer.from(value.base64, "base64");
  }
}

function encode(value: unknown): HranaValue {
  if (value === null) return { type: "null" };
  if (typeof value === "bigint") return { type: "integer", value: String(value) };
  if (typeof value === "number") return { type: "float", value };
  if (typeof value === "string") return { type: "text", value };
  return { type: "blob", base64: (value as Buffer).toString("base64").replace(/=+$/, "") };
}
