import type { Statement, Value } from "./executor.ts";
import type { StatementName, StatementParams } from "./generated/statements.ts";
import type { Protocol } from "./protocol.ts";

/** Binds values to a compiled statement of `protocol/statements`. */
export function bind<N extends StatementName>(
  { protocol }: { readonly protocol: Protocol },
  name: N,
  values: StatementParams[N],
): Statement {
  const compiled = protocol.statements[name];
  if (compiled === undefined) throw new Error(`this dialect has no statement ${name}`);
  const bag = values as Record<string, Value>;
  return { sql: compiled.sql, params: compiled.params.map((param) => bag[param] ?? null) };
}
