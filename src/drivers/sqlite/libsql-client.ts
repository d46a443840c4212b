// The part of @libsql/client that Wadi uses, so that the driver does not import the package, and the form of its
// values.

import type { Row, Statement, Value } from "../../core/executor.ts";

/** A statement, as `@libsql/client` takes it. */
export interface LibsqlStatement {
  sql: string;
  args: Value[];
}

/** The part of the result of a statement that Wadi uses. */
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

/** The part of the result of `client.transaction("write")` that Wadi uses. */
export interface LibsqlTransactionLike {
  readonly closed: boolean;
  batch(statements: LibsqlStatement[]): Promise<LibsqlResultLike[]>;
  commit(): Promise<void>;
}

/** Whether `tx` is an open transaction of a libSQL client. */
export function isOpenTransaction(tx: unknown): tx is LibsqlTransactionLike {
  const { commit, batch, closed } = (tx ?? {}) as Partial<LibsqlTransactionLike>;
  return typeof commit === "function" && typeof batch === "function" && closed === false;
}

export function isLibsqlStatement(value: unknown): value is LibsqlStatement {
  const statement = value as LibsqlStatement | null;
  return typeof statement?.sql === "string" && statement.args !== undefined;
}

export function toLibsql({ sql, params }: Statement): LibsqlStatement {
  return { sql, args: [...params] };
}

export function toRows({ columns, rows }: LibsqlResultLike): Row[] {
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, toValue(row[index])])));
}

function toValue(value: unknown): Value {
  if (typeof value !== "bigint") return value as Value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}
