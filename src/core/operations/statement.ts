import type { Statement, Value } from "../executor.ts";
import type { StatementName, StatementParams } from "../generated/statements.ts";
import type { Protocol } from "../protocol.ts";

/** Which SQL to bind to, and the present time for the statements that take one; null leaves it to the database. */
export interface Binding {
  readonly protocol: Protocol;
  readonly nowMs?: number | null;
}

/** The values a statement takes from its caller. */
export type Values<N extends StatementName> = Omit<StatementParams[N], "now_ms">;

/** Binds values to a compiled statement of `protocol/statements`, which may be fewer than there are. */
export function bind<N extends StatementName>(
  { protocol, nowMs }: Binding,
  name: N,
  values: Values<N>,
): Statement {
  const bag: Record<string, Value | undefined> = { now_ms: nowMs, ...values };
  const { sql, params } = protocol.statements[name]!;
  return { sql, params: params.map((param) => bag[param] ?? null) };
}
