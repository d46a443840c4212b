/** Errors of the database: it refused, it could not be reached, or its tables are not the expected ones. */
import type { ErrorClass } from "../executor.ts";
import { WadiError, type WadiErrorOptions } from "./wadi-error.ts";

/** Options of a new `DriverError`. */
export interface DriverErrorOptions extends WadiErrorOptions {
  /** The class of the database's error. @default "unknown" */
  kind?: ErrorClass;
  /** The id of the task that a `call` may have queued. @default none */
  taskId?: string;
}

/** The database refused a statement or stayed unreachable. The error of its client is the `cause`. */
export class DriverError extends WadiError {
  override readonly name = "DriverError";
  /** The class of the database's error; see `ErrorClass`. */
  readonly kind: ErrorClass;
  /** For a `call`: the id of its task, which may have been queued. Null for every other operation. */
  readonly taskId: string | null;
  constructor(message: string, options: DriverErrorOptions) {
    super("DRIVER_ERROR", message, options);
    this.kind = options.kind ?? "unknown";
    this.taskId = options.taskId ?? null;
  }
}

/** The database speaks a protocol version this SDK does not know. */
export class ProtocolVersionMismatch extends WadiError {
  override readonly name = "ProtocolVersionMismatch";
  constructor(found: string) {
    super(
      "PROTOCOL_VERSION_MISMATCH",
      `the database speaks CairnQ protocol version ${found}, this SDK speaks version 1; upgrade wadi`,
    );
  }
}

/**
 * The database belongs to another scope than this client, as the copy of a database does, so the client claims,
 * recovers and deletes nothing in it. Nothing was written. It may submit and read.
 */
export class ScopeMismatch extends WadiError {
  override readonly name = "ScopeMismatch";
  /** The scope of this client; null: it has none. */
  readonly scope: string | null;
  /** The scope that the database belongs to; null: to none. */
  readonly databaseScope: string | null;
  constructor(scope: string | null, databaseScope: string | null) {
    super("SCOPE_MISMATCH", scopeMessage(scope, databaseScope));
    this.scope = scope;
    this.databaseScope = databaseScope;
  }
}

function scopeMessage(scope: string | null, databaseScope: string | null): string {
  if (databaseScope === null) {
    return (
      "the database belongs to no scope, so that clear() cannot know which tasks a copy brought along; " +
      "call wadi.adopt() to take it over as it is"
    );
  }
  const found = `the database belongs to the scope ${JSON.stringify(databaseScope)}`;
  if (scope === null) {
    return (
      `${found} and this client to none, so it runs, recovers and deletes no tasks here; pass the environment it ` +
      `runs in, such as new Wadi(executor, { scope: ${JSON.stringify(databaseScope)} }), and if this database is a ` +
      "copy, another scope and then call wadi.clear() or wadi.adopt() once"
    );
  }
  return (
    `${found} and this client to ${JSON.stringify(scope)}, so it runs, recovers and deletes no tasks here; if the ` +
    "database is a copy, call wadi.clear() once to delete the unfinished tasks that it brought along, or " +
    "wadi.adopt() to run them in this scope"
  );
}

/** Migrations would create the tables while another schema of the same database has them. Nothing is written. */
export class SchemaMismatch extends WadiError {
  override readonly name = "SchemaMismatch";
  /** The schemas that have them. */
  readonly schemas: readonly string[];
  constructor(schemas: readonly string[], schema: string | undefined) {
    const names = schemas.map((name) => JSON.stringify(name)).join(", ");
    const here =
      schema === undefined ? "where the search path points" : `in schema ${JSON.stringify(schema)}`;
    super(
      "SCHEMA_MISMATCH",
      `the tables are in schema ${names} of this database and not ${here}; pass that schema to the driver, ` +
        "or call migrate({ secondInstallation: true }) for a second set of tables",
    );
    this.schemas = schemas;
  }
}
