// Writes several statements to node-pg's wire connection at once, so that a batch is one round trip.

import type { Row, Statement, Value } from "../../core/executor.ts";
import type { PgConnectionLike } from "./pg-client.ts";

/** A statement that one connection has parsed. Its columns are described once, when it is parsed. */
interface Prepared {
  readonly name: string;
  columns: readonly string[];
}

/** A program has some dozens of statements. More than this are generated ones, which are not kept on the server. */
const MAX_PREPARED = 500;

/** By connection and SQL text. */
let registry = new WeakMap<object, Map<string, Prepared>>();

/** Makes every connection parse its statements again. */
export function forgetPrepared(): void {
  registry = new WeakMap();
}

/**
 * Statements that are sent in one write and answered in one round trip, as a `Submittable` for `client.query`.
 *
 * They end in a single Sync, so that outside of a transaction block they are one transaction: at Sync the server
 * commits, or, after an error, skips the remaining statements and rolls back. There is no BEGIN that could leave a
 * failed transaction behind. Inside a transaction block they are a part of it.
 */
export class PgPipeline {
  /** Whether anything may have reached the server. */
  submitted = false;
  /** Public and writable, because node-pg wraps it to clear its query timeout. */
  callback: (error: unknown, results?: Row[][]) => void;
  readonly #statements: readonly Statement[];
  readonly #prepare: boolean;
  readonly #plans: Prepared[] = [];
  readonly #results: Row[][] = [];
  #rows: Row[] = [];
  #known: Map<string, Prepared> = new Map();

  constructor(
    statements: readonly Statement[],
    prepare: boolean,
    callback: (error: unknown, results?: Row[][]) => void,
  ) {
    this.#statements = statements;
    this.#prepare = prepare;
    this.callback = callback;
  }

  submit(connection: PgConnectionLike): Error | null {
    this.submitted = true;
    const known = registry.get(connection) ?? new Map<string, Prepared>();
    registry.set(connection, known);
    this.#known = known;
    const parsing = new Map<string, Prepared>();
    connection.stream.cork?.();
    try {
      for (const { sql, params } of this.#statements) {
        const keep = this.#prepare && known.size + parsing.size < MAX_PREPARED;
        let plan = this.#prepare ? (known.get(sql) ?? parsing.get(sql)) : undefined;
        const parse = plan === undefined;
        if (plan === undefined) {
          plan = { name: keep ? statementName(sql) : "", columns: [] };
          // An earlier try may have parsed it under this name; closing an unknown name is no error.
          if (keep) connection.close({ type: "S", name: plan.name });
          if (keep) parsing.set(sql, plan);
          connection.parse({ name: plan.name, text: sql, types: [] });
        }
        this.#plans.push(plan);
        connection.bind({ statement: plan.name, values: params, valueMapper: toText });
        if (parse) connection.describe({ type: "P", name: "" });
        connection.execute({ portal: "" });
      }
      connection.sync();
      return null;
    } catch (error) {
      // The Sync of another query would commit the half of the batch that was written.
      connection.stream.destroy();
      return error as Error;
    } finally {
      connection.stream.uncork?.();
    }
  }

  handleRowDescription(message: { fields: readonly { name: string }[] }): void {
    this.#plan().columns = message.fields.map((field) => field.name);
  }

  handleDataRow(message: { fields: readonly (string | null)[] }): void {
    const row: Row = {};
    const { columns } = this.#plan();
    for (let i = 0; i < columns.length; i++) row[columns[i]!] = message.fields[i]!;
    this.#rows.push(row);
  }

  handleCommandComplete(): void {
    const plan = this.#plan();
    // It was certainly parsed and described, and a rollback does not undo that.
    if (plan.name !== "") this.#known.set(this.#statements[this.#results.length]!.sql, plan);
    this.#results.push(this.#rows);
    this.#rows = [];
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete();
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#results);
  }

  handleError(error: unknown): void {
    this.callback(error);
  }

  handleCopyInResponse(connection: PgConnectionLike): void {
    connection.sendCopyFail("COPY needs a stream, and a statement has none");
    connection.sync(); // the server took the first one for a part of the copy stream
  }

  handleCopyData(): void {}

  handlePortalSuspended(): void {}

  #plan(): Prepared {
    return this.#plans[this.#results.length]!;
  }
}

/**
 * The pipeline in the form that `client` accepts. With `pipeline: true` node-pg accepts only instances of its `Query`,
 * because a cursor keeps its portal open across round trips. A pipeline does not, so it is made to look like a `Query`.
 */
export function queryFor(client: object, pipeline: PgPipeline): PgPipeline {
  const { Query } = client.constructor as { Query?: { prototype: object } };
  if (!(client as { pipeline?: boolean }).pipeline || Query === undefined) return pipeline;
  const methods = Object.getOwnPropertyDescriptors(PgPipeline.prototype);
  return Object.setPrototypeOf(pipeline, Object.create(Query.prototype, methods));
}

/** Each parameter is sent as text, and the statement decides its type. */
function toText(value: Value): string | null {
  return value === null ? null : String(value);
}

/** The same text has the same name in every process, so that a pooler that shares sessions does not mix them up. */
function statementName(sql: string): string {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < sql.length; i++) {
    const unit = sql.charCodeAt(i);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  return `wadi_${(a >>> 0).toString(36)}_${(b >>> 0).toString(36)}`;
}
