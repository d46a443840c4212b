// The `schema` option of the Postgres drivers: the SQL with that schema before the names of tables and functions.

import { InvalidArgument } from "../../core/errors/wadi-error.ts";
import type { Executor } from "../../core/executor.ts";
import { postgres, postgresIn } from "../../protocol/postgres.ts";

type Protocol = Executor["protocol"];

/** Where the tables are. */
export interface PgSchemaOption {
  /**
   * The schema that holds Wadi's tables; the migrations create it if it is missing. Its name becomes part of each
   * statement's text, so it works behind a transaction-mode pooler too. Producers and workers must agree on it.
   * @default the connection's search path decides
   */
  readonly schema?: string | undefined;
}

/** A function on an edge runtime makes an executor for each request, often with the same schema. */
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
    // `create schema if not exists` needs the right to create schemas even if the schema exists.
    setup: [
      `do $$ begin if to_regnamespace('${inString}') is null ` +
        `then create schema if not exists ${identifier}; end if; end $$`,
    ],
  };
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Postgres truncates longer names and reserves `pg_`; a dollar sign could end the quotes of a function's body. */
function checkSchema(schema: unknown): void {
  const isName = typeof schema === "string" && /^(?!pg_)[^\0$]+$/.test(schema) && schema.isWellFormed();
  const bytes = typeof schema === "string" ? new TextEncoder().encode(schema).length : 0;
  if (!isName || bytes > 63) {
    const found = typeof schema === "string" ? `one of ${bytes} bytes` : typeof schema;
    throw new InvalidArgument(
      `schema must be a name of 1 to 63 bytes that does not begin with "pg_", without dollar signs and NUL, ` +
        `got ${found}`,
    );
  }
}
