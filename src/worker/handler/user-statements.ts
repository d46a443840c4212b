/** Checks the application's statements of `succeedWith` and turns them into statements of the executor. */

import { InvalidArgument } from "../../core/errors/errors.ts";
import type { Executor, Row, SendOptions, Statement, Value } from "../../core/executor.ts";
import { encodeJson } from "../../core/json/json.ts";
import { onlyKnown, show } from "../../core/validate.ts";
import type { UserStatement } from "../task-context.ts";

/** Statements that begin or end a transaction would split the batch. */
const TRANSACTION_CONTROL =
  /^[\s;]*(?:begin|start\s+transaction|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\b/i;
/** More than one statement. A CREATE may hold several: those of a trigger. */
const SEVERAL = /^(?!\s*create\b)[^;]*;[\s;]*[^\s;]/i;
/** Strings, quoted names and comments: keywords and semicolons in them mean nothing. */
const QUOTED = /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--.*|\/\*[\s\S]*?(?:\*\/|$)/g;

/**
 * Checks the application's statements and returns a function that sends them before the last of those that it gets.
 * Nothing is sent yet.
 *
 * @throws {InvalidArgument} naming the statement that is not valid, or the parameter that this database cannot store.
 */
export function userStatements(
  executor: Executor,
  statements: readonly UserStatement[],
): (around: readonly Statement[], options: SendOptions) => Promise<readonly Row[][]> {
  const { native, limits, dialect } = executor;
  if (!Array.isArray(statements)) {
    throw new InvalidArgument(`succeedWith takes an array of statements, got ${show(statements)}`);
  }
  const most = limits.maxBatchStatements - 3;
  if (statements.length > most) {
    throw new InvalidArgument(
      `succeedWith takes at most ${most} statements on ${executor.name}, got ${statements.length}`,
    );
  }
  const checked = statements.map((statement, i) => {
    const what = `statement ${i + 1} of succeedWith`;
    if (typeof statement?.toSQL === "function") return toStatement(statement.toSQL(), what, executor);
    const text = typeof statement?.sql === "string" ? statement.sql : undefined;
    if (native?.is(statement)) {
      if (text !== undefined) checkText(text, what, dialect);
      return { native: statement };
    }
    if (text !== undefined) onlyKnown(what, statement, ["sql", "params"]);
    return toStatement(statement, what, executor);
  });
  if (native === undefined || !checked.some((statement) => "native" in statement)) {
    return (around, options) =>
      executor.batch([...around.slice(0, -1), ...(checked as Statement[]), ...around.slice(-1)], options);
  }
  const prepared = checked.flatMap((statement) =>
    "native" in statement ? [statement.native] : native.prepare([statement]),
  );
  return (around, options) => {
    const own = native.prepare(around);
    return native.batch([...own.slice(0, -1), ...prepared, ...own.slice(-1)], options);
  };
}

function toStatement(
  value: { readonly sql?: unknown; readonly params?: unknown } | null | undefined,
  what: string,
  executor: Executor,
): Statement {
  const { sql, params = [] } = value ?? {};
  if (typeof sql !== "string" || sql.trim() === "" || !Array.isArray(params)) {
    throw new InvalidArgument(
      `${what} must be { sql, params }, a query with toSQL(), or a statement that this database's client prepared`,
    );
  }
  const bare = checkText(sql, what, executor.dialect);
  const count = executor.dialect === "sqlite" ? placeholders(bare) : undefined;
  if (count !== undefined && count !== params.length) {
    throw new InvalidArgument(`${what} has ${count} placeholders and ${params.length} params`);
  }
  return { sql, params: params.map((param, i) => toValue(param, `parameter ${i + 1} of ${what}`, executor)) };
}

/** Returns the text without its strings, quoted names and comments. */
function checkText(sql: string, what: string, dialect: Executor["dialect"]): string {
  const bare = sql.replace(QUOTED, " ");
  if (TRANSACTION_CONTROL.test(bare)) {
    throw new InvalidArgument(
      `${what} begins or ends a transaction; the batch is a transaction already, leave it out`,
    );
  }
  // Postgres refuses more than one. Some SQLite clients run all of them, and some only the first, without an error.
  if (dialect === "sqlite" && SEVERAL.test(bare)) {
    throw new InvalidArgument(`${what} is more than one statement; pass each by itself`);
  }
  return bare;
}

/**
 * How many values SQLite needs for a statement; undefined if some have names. It is counted here because some SQLite
 * clients store NULL for a missing value; Postgres counts by itself.
 */
function placeholders(bare: string): number | undefined {
  if (/[:@$]\w/.test(bare)) return undefined;
  let most = 0;
  for (const [, number] of bare.matchAll(/\?(\d*)/g))
    most = number === "" ? most + 1 : Math.max(most, Number(number));
  return most;
}

/** A parameter as every driver accepts it. A value that a driver would silently store as another one is refused. */
function toValue(value: unknown, what: string, executor: Executor): Value {
  const { dialect } = executor;
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
      return encodeJson(value, what, executor);
  }
  throw new InvalidArgument(
    `${what} must be a string, a number, a boolean, null, a Date or plain JSON that ${dialect} can hold`,
  );
}
