import { InvalidArgument } from "../../core/errors/wadi-error.ts";
import type { Executor } from "../../core/executor.ts";
import { postgres } from "../../protocol/postgres.ts";

type Protocol = Executor["protocol"];

export interface PgSchemaOption {
  /**
   * The schema that holds Wadi's tables; the migrations create it where it is missing. Its name becomes part of each
   * statement's text, so it works behind a transaction-mode pooler too. Producers and workers must agree on it.
   * @default the connection's search path decides
   */
  readonly schema?: string | undefined;
}

/** Every table and function of the protocol. A quote before it: the name stands in a string. */
const NAMES =
  /('?)\b(cairnq_(?:tasks|task_keys|meta|migrations)|wadi_(?:migrations|limits|limit_starts|failures|notify_queued|notify_status))\b/g;

/** Functions on an edge runtime make an executor for each request, and often of one schema. */
const cache = new Map<string, Protocol>();
const MAX_CACHED = 50;

/** The protocol's SQL with the names of its tables and functions in `schema`. */
export function protocolIn(schema: string | undefined): Protocol {
  if (schema === undefined) return postgres;
  let protocol = cache.get(schema);
  if (protocol === undefined) {
    checkSchema(schema);
    protocol = qualified(postgres, schema);
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(schema, protocol);
  }
  return protocol;
}

/** SQL of the protocol with its names in `schema`. */
export function inSchema(sql: string, schema: string): string {
  const identifier = quote(schema);
  return sql.replace(
    NAMES,
    (_, quoted: string, name: string) =>
      `${quoted}${quoted === "" ? identifier : identifier.replaceAll("'", "''")}.${name}`,
  );
}

function qualified(protocol: Protocol, schema: string): Protocol {
  const migrations = (list: Protocol["migrations"]) =>
    list.map(({ name, statements }) => ({
      name,
      statements: statements.map((sql) => inSchema(sql, schema)),
    }));
  const statements = Object.entries(protocol.statements).map(([name, { sql, params }]) => [
    name,
    { sql: inSchema(sql, schema), params },
  ]);
  const identifier = quote(schema);
  return {
    statements: Object.fromEntries(statements),
    migrations: migrations(protocol.migrations),
    optionalMigrations: migrations(protocol.optionalMigrations),
    schema,
    // `if not exists` alone asks for the right to create schemas also where it exists.
    setup: [
      `do $$ begin if to_regnamespace('${identifier.replaceAll("'", "''")}') is null then create schema if not exists ${identifier}; end if; end $$`,
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
