import { InvalidArgument } from "../../core/errors/wadi-error.ts";
import type { Executor } from "../../core/executor.ts";
import { postgres, postgresIn } from "../../protocol/postgres.ts";

type Protocol = Executor["protocol"];

export interface PgSchemaOption {
  /**
   * The schema that holds Wadi's tables; the migrations create it where it is missing. Its name becomes part of each
   * statement's text, so it works behind a transaction-mode pooler too. Producers and workers must agree on it.
   * @default the connection's search path decides
   */
  readonly schema?: string | undefined;
}

/** Functions on an edge runtime make an executor for each request, and often of one schema. */
const cache = new Map<string, Protocol>();
const MAX_CACHED = 50;

/** The protocol's SQL with the names of its tables and functions in `schema`. */
export function protocolIn(schema: string | undefined): Protocol {
  if (schema === undefined) return postgres;
  let protocol = cache.get(schema);
  if (protocol === undefined) {
    checkSchema(schema);
    protocol = qualified(schema);
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(schema, protocol);
  }
  return protocol;
}

function qualified(schema: string): Protocol {
  const identifier = quote(schema);
  const inString = identifier.replaceAll("'", "''");
  return {
    ...postgresIn(`${identifier}.`, `${inString}.`),
    schema,
    // `if not exists` alone asks for the right to create schemas also where it exists.
    setup: [
      `do $$ begin if to_regnamespace('${inString}') is null then create schema if not exists ${identifier}; end if; end $$`,
    ],
  };
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Postgres cuts longer names, reserves `pg_`, and a dollar could end the quotes of a function's body. */
function checkSchema(schema: unknown): void {
  const isName = typeof schema === "string" && /^(?!pg_)[^\0$]+$/.test(schema) && schema.isWellFormed();
  const bytes = typeof schema === "string" ? new TextEncoder().encode(schema).length : 0;
  if (!isName || bytes > 63) {
    const found = typeof schema === "string" ? `one of ${bytes} bytes` : typeof schema;
    throw new InvalidArgument(
      `schema must be a name of 1 to 63 bytes that does not begin with "pg_", without dollar signs and NUL, got ${found}`,
    );
  }
}
