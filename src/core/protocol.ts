/** The compiled SQL of the protocol, as types: `src/protocol` holds the values. */

/** SQL with placeholders, and the parameter for each placeholder in order. */
export interface CompiledStatement {
  /** The text, with placeholders. */
  readonly sql: string;
  /** The name of the parameter for each placeholder, in order. */
  readonly params: readonly string[];
}

/** A named change of the schema, applied as one batch. */
export interface Migration {
  /** Recorded in the ledger of migrations. */
  readonly name: string;
  /** Its statements, in order. */
  readonly statements: readonly string[];
}

/** The protocol's SQL in one dialect, compiled from `protocol/`. Every executor carries that of its database. */
export interface Protocol {
  /** By name, such as `claim_tasks`. */
  readonly statements: { readonly [name: string]: CompiledStatement };
  /** Applied in this order, each once. */
  readonly migrations: readonly Migration[];
  /** Applied only if they are asked for. */
  readonly optionalMigrations: readonly Migration[];
  /** Does in fewer statements what the migrations do to an empty database, and fails on any other. SQLite only. */
  readonly baseline?: readonly string[] | undefined;
  /** The Postgres schema its names are qualified with; without one the search path decides. */
  readonly schema?: string | undefined;
  /** Statements to run before each migration: they create that schema if it is missing. */
  readonly setup?: readonly string[] | undefined;
}
