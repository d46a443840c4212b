/** Submits and cancels as statements of a batch that the application sends. */
import { InvalidArgument, Unsupported } from "../../core/errors/errors.ts";
import type { Row } from "../../core/executor.ts";
import type { CanceledTask } from "../../core/operations/control.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import type { WadiInternals } from "../internals.ts";
import type { SubmitEntry, SubmitOptions } from "../submit/submit-options.ts";
import type { PayloadOf, SubmittedOf } from "../task-types.ts";
import type { Kickable } from "../wake/wake.ts";
import { transactionalCalls } from "./shared.ts";

/** Statements for the database client, to be sent in a batch with others. Nothing is done until they are sent. */
export interface PreparedBatch<Native, T> {
  /** Send all of them, in this order. */
  readonly statements: Native[];
  /** What they did, from the results that the client gave for them. */
  read(results: readonly unknown[]): T;
}

/**
 * Makes statements for a batch that you send: `env.DB.batch`, `sql.transaction` of Neon, `client.batch` of libSQL.
 *
 * @example
 * ```ts
 * import { Wadi } from "wadi";
 * import { type D1Like, d1 } from "wadi/d1";
 *
 * async function order(DB: D1Like) {
 *   const { statements, read } = await new Wadi(d1(DB)).statements.submit("invoice", { order: 7 });
 *   const results = await DB.batch([DB.prepare("insert into orders (id) values (7)"), ...statements]);
 *   return read(results.slice(1));
 * }
 * ```
 */
export interface StatementBuilder<Native = unknown> {
  /**
   * Statements that queue one task, and its id. The first call in a process checks, in one round trip, that the tables
   * exist; later calls send nothing.
   *
   * A key that has a task already keeps it, as in `submit`; then no task has this `id`, and `read` or `getByKey`
   * returns the existing one. Under the policy `reject` the whole batch fails with `wadi:already_exists` in its
   * message.
   *
   * With a `wake` or a `hint`, call `kick()` once the batch is committed.
   *
   * @throws {InvalidArgument} | {SerializationError} before anything is sent.
   * @throws {Unsupported} on a client that does not accept a batch of statements: use `wadi.with(tx)`.
   */
  submit<T extends string | AnyTaskDefinition>(
    task: T,
    payload: PayloadOf<T>,
    options?: SubmitOptions,
  ): Promise<{ readonly id: string } & Kickable & PreparedBatch<Native, SubmittedOf<T>>>;
  /** Statements that queue many tasks of one name, and their ids in order. See `submit`. */
  submitMany<T extends string | AnyTaskDefinition>(
    task: T,
    entries: readonly SubmitEntry<PayloadOf<T>>[],
  ): Promise<{ readonly ids: string[] } & Kickable & PreparedBatch<Native, SubmittedOf<T>[]>>;
  /** Statements that cancel a queued task or ask a running one to stop. `read` gives it, null if there is none. */
  cancel(id: string): Promise<PreparedBatch<Native, CanceledTask | null>>;
  /** `cancel` for the task a key points at. */
  cancelByKey(key: string): Promise<PreparedBatch<Native, CanceledTask | null>>;
}

export function statementBuilder<Native>(internals: WadiInternals): StatementBuilder<Native> {
  const { session } = internals;
  const { native, name } = session.executor;
  return transactionalCalls(internals, {
    isSync: false,
    readsAfterCommit: true,
    async send({ statements, decode }, ids) {
      if (native === undefined) {
        throw new Unsupported(
          `${name} does not accept a batch of statements; begin a transaction, and use wadi.with(tx)`,
        );
      }
      await session.ensureMigrated();
      const rowsOf = (result: unknown): Row[] => {
        let rows: unknown;
        try {
          rows = native.rows(result);
        } catch {}
        if (Array.isArray(rows) && !rows.some(Array.isArray)) return rows;
        throw new InvalidArgument(
          "read expects the results as the client returned them, with rows that are objects",
        );
      };
      const read = (results: readonly unknown[]) => {
        const { length } = statements;
        if (results?.length === length) return decode(results.map(rowsOf));
        throw new InvalidArgument(
          `read expects the ${length} results of these statements, got ${results?.length}; slice them out of the batch`,
        );
      };
      return { ...ids, statements: native.prepare(statements), read };
    },
  }) as StatementBuilder<Native>;
}
