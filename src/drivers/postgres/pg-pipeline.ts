import type { Row, Statement, Value } from "../../core/executor.ts";
import type { PgConnectionLike } from "./pg-client.ts";

/** A statement as one connection knows it: the columns are described once, when it is parsed. */
interface Prepared {
  readonly name: string;
  columns: readonly string[];
}

/** A program has some dozens of statements; beyond this they are generated, and not kept on the server. */
const MAX_PREPARED = 500;

let registry = new WeakMap<object, Map<string, Prepared>>();

/** Makes every connection parse its statements anew. */
export function forgetPrepared(): void {
  registry = new WeakMap();
}

/**
 * Statements that travel in one write and are answered in one go, a `Submittable` for `client.query`.
 *
 * They end in a single Sync, so that outside of a transaction block they are a transaction of their own: the
 * server commits at Sync, or has skipped what followed the first error and rolls back. There is no BEGIN that
 * could leave a failed transaction behind, and inside a transaction block they take part in it.
 */
export class PgPipeline {
  /** Whether anything may have reached the server. */
  submitted = false;
  /** node-pg wraps this one to clear its query timeout. */
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
          // An earlier try may have got as far as parsing it; closing an unknown name is no error.
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
      // Half a batch must never meet the Sync of another query.
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
    // Parsed and described for certain; it outlives a rollback.
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
    connection.sync(); // the first one was taken for a part of the copy stream
  }

  handleCopyData(): void {}

  handlePortalSuspended(): void {}

  #plan(): Prepared {
    return this.#plans[this.#results.length]!;
  }
}

/**
 * The pipeline as `client` takes it. With `pipeline: true` node-pg refuses foreign queries, because a cursor
 * keeps its portal open across round trips. This one does not, so there it passes for the client's own kind.
 */
export function queryFor(client: object, pipeline: PgPipeline): PgPipeline {
  const { Query } = client.constructor as { Query?: { prototype: object } };
  if (!(client as { pipeline?: boolean }).pipeline || Query === undefined) return pipeline;
  const methods = Object.getOwnPropertyDescriptors(PgPipeline.prototype);
  return Object.setPrototypeOf(pipeline, Object.create(Query.prototype, methods));
}

/** Every value goes as text and gets its type from the statement. */
function toText(value: Value): string | null {
  return value === null ? null : String(value);
}

/** The same name for the same text everywhere, so that it does no harm behind a pooler that shares sessions. */
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
