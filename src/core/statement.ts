import type { Dialect, Statement, Value } from "./executor.ts";
import { type StatementName, type StatementParams, statements } from "./generated/protocol.ts";

/** Binds values to a compiled statement of `protocol/statements`. */
export function bind<N extends StatementName>(
  dialect: Dialect,
  name: N,
  values: StatementParams[N],
): Statement {
  const compiled = statements[dialect][name];
  if (compiled === undefined) throw new Error(`no ${dialect} statement ${name}`);
  const bag = values as Record<string, Value>;
  return { sql: compiled.sql, params: compiled.params.map((param) => bag[param] ?? null) };
}
