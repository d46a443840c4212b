import { InvalidArgument } from "../core/errors.ts";
import type { Executor, Row, Statement, Value } from "../core/executor.ts";

/**
 * A statement of the application's own: SQL with the placeholders of the database (`?` on SQLite, `$1` on Postgres),
 * a query builder's query that has `toSQL()` (Drizzle), or one of the client's own kind: what D1 prepares, a query of the
 * Neon driver, `{ sql, args }` of libSQL.
 */
export type OwnStatement =
  | { readonly sql: string; readonly params?: readonly unknown[] | undefined }
  | { toSQL(): { readonly sql: string; readonly params: readonly unknown[] } }
  | object;

/** Sends statements before and after the application's own, as one batch. */
export type Around = (before: readonly Statement[], after: Statement) => Promise<readonly Row[][]>;

/** What ends or begins a transaction would tear the batch apart. */
const CONTROL =
  /^\s*(?:begin|start\s+transaction|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\b/i;

/**
 * Checks the application's statements and returns how they are sent. Nothing is sent yet.
 *
 * @throws {InvalidArgument} naming the statement that is none, or the parameter that no database takes.
 */
export function ownStatements(executor: Executor, statements: readonly OwnStatement[]): Around {
  const { native, limits, dialect } = executor;
  if (!Array.isArray(statements)) throw new InvalidArgument("succeedWith takes an array of statements");
  const most = limits.maxBatchStatements - 3;
  if (statements.length > most) {
    throw new InvalidArgument(
      `succeedWith takes at most ${most} statements on ${executor.name}, got ${statements.length}`,
    );
  }
  const own = statements.map((statement, i) => {
    const built = typeof statement?.toSQL === "function" ? statement.toSQL() : statement;
    if (built === statement && native?.is(statement)) return { native: statement };
    return toStatement(built, `statement ${i + 1} of succeedWith`, dialect);
  });
  if (native === undefined || !own.some((statement) => "native" in statement)) {
    return (before, after) => executor.batch([...before, ...(own as Statement[]), after]);
  }
  const prepared = own.flatMap((statement) =>
    "native" in statement ? [statement.native] : native.prepare([statement]),
  );
  return (before, after) =>
    native.batch([...native.prepare(before), ...prepared, ...native.prepare([after])]);
}

function toStatement(
  value: { readonly sql?: unknown; readonly params?: unknown } | null | undefined,
  what: string,
  dialect: Executor["dialect"],
): Statement {
  const { sql, params = [] } = value ?? {};
  if (typeof sql !== "string" || sql.trim() === "" || !Array.isArray(params)) {
    throw new InvalidArgument(
      `${what} must be { sql, params }, a query with toSQL(), or a statement that this database's client prepared`,
    );
  }
  if (CONTROL.test(sql)) {
    throw new InvalidArgument(`${what} begins or ends a transaction; its batch is one already, leave it out`);
  }
  return { sql, params: params.map((param, i) => toValue(param, `parameter ${i + 1} of ${what}`, dialect)) };
}

/** A parameter as every driver takes it. What a driver would store as something else without a word is refused. */
function toValue(value: unknown, what: string, dialect: Executor["dialect"]): Value {
  const isSqlite = dialect === "sqlite";
  switch (typeof value) {
    case "string":
      return value;
    case "number":
      if (isSqlite && !Number.isFinite(value)) break; // would be stored as NULL
      return value;
    case "boolean":
      return isSqlite ? Number(value) : String(value);
    case "bigint":
      if (!isSqlite) return String(value);
      if (Number.isSafeInteger(Number(value))) return Number(value);
      break;
    case "undefined":
      return null;
    case "object":
      if (value === null) return null;
      if (value instanceof Date) {
        if (Number.isNaN(value.getTime())) break;
        return isSqlite ? value.getTime() : value.toISOString();
      }
      if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) break;
      return JSON.stringify(value);
  }
  throw new InvalidArgument(
    `${what} must be a string, a number, a boolean, null, a Date or plain JSON that ${dialect} can hold`,
  );
}
