import { InvalidArgument } from "../../core/errors/errors.ts";
import type { Executor, Row, SendOptions, Statement, Value } from "../../core/executor.ts";
import { encodeJson } from "../../core/json/json.ts";
import { onlyKnown, show } from "../../core/validate.ts";
import type { UserStatement } from "../task-context.ts";

/** Sends statements before and after the application's own, as one batch. */
export type Around = (
  before: readonly Statement[],
  after: Statement,
  options: SendOptions,
) => Promise<readonly Row[][]>;

/** What ends or begins a transaction would tear the batch apart. */
const CONTROL =
  /^[\s;]*(?:begin|start\s+transaction|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\b/i;
/** One statement after another. Those of a trigger are its own. */
const SEVERAL = /^(?!\s*create\b)[^;]*;[\s;]*[^\s;]/i;
/** Texts, quoted names and comments, in which no word and no semicolon means anything. */
const QUOTED = /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--.*|\/\*[\s\S]*?(?:\*\/|$)/g;

/**
 * Checks the application's statements and returns how they are sent. Nothing is sent yet.
 *
 * @throws {InvalidArgument} naming the statement that is none, or the parameter that no database takes.
 */
export function userStatements(executor: Executor, statements: readonly UserStatement[]): Around {
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
  const own = statements.map((statement, i) => {
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
  if (native === undefined || !own.some((statement) => "native" in statement)) {
    return (before, after, options) => executor.batch([...before, ...(own as Statement[]), after], options);
  }
  const prepared = own.flatMap((statement) =>
    "native" in statement ? [statement.native] : native.prepare([statement]),
  );
  return (before, after, options) =>
    native.batch([...native.prepare(before), ...prepared, ...native.prepare([after])], options);
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

/** Returns the text without what is quoted in it. */
function checkText(sql: string, what: string, dialect: Executor["dialect"]): string {
  const bare = sql.replace(QUOTED, " ");
  if (CONTROL.test(bare)) {
    throw new InvalidArgument(`${what} begins or ends a transaction; its batch is one already, leave it out`);
  }
  // Postgres refuses more than one by itself. Of SQLite's clients some run all, and some the first without a word.
  if (dialect === "sqlite" && SEVERAL.test(bare)) {
    throw new InvalidArgument(`${what} is more than one statement; pass each by itself`);
  }
  return bare;
}

/**
 * How many values SQLite takes for it; undefined if some have names. Postgres counts by itself, and of SQLite's clients some
 * store NULL for what is not given.
 */
function placeholders(bare: string): number | undefined {
  if (/[:@$]\w/.test(bare)) return undefined;
  let most = 0;
  for (const [, number] of bare.matchAll(/\?(\d*)/g))
    most = number === "" ? most + 1 : Math.max(most, Number(number));
  return most;
}

/** A parameter as every driver takes it. What a driver would store as something else without a word is refused. */
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
