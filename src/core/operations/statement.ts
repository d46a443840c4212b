/** Turns a compiled statement of the protocol and its named values into a statement that a driver can send. */

import type { Statement, Value } from "../executor.ts";
import type { StatementName, StatementParams } from "../generated/statements.ts";
import type { Protocol } from "../protocol.ts";

/**
 * The SQL to bind to, and what its client is: the present time for statements that take one (null uses the clock of the
 * database), and the scope.
 */
export interface Binding {
  readonly protocol: Protocol;
  readonly nowMs?: number | null;
  readonly scope?: string | null;
}

/** The values that a statement takes from its caller. */
export type Values<N extends StatementName> = Omit<StatementParams[N], "now_ms" | "scope">;

/**
 * Binds values to a compiled statement of `protocol/statements`. A statement ignores values it has no parameter for.
 */
export function bind<N extends StatementName>(
  { protocol, nowMs, scope }: Binding,
  name: N,
  values: Values<N>,
): Statement {
  const bag: Record<string, Value | undefined> = { now_ms: nowMs, scope, ...values };
  const { sql, params } = protocol.statements[name]!;
  return { sql, params: params.map((param) => bag[param] ?? null) };
}
