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
