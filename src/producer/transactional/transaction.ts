/** Submits and cancels within a transaction that the application has open. */
import { InvalidArgument, Unsupported, WadiError } from "../../core/errors/errors.ts";
import type { Answer, Row } from "../../core/executor.ts";
import { otherVersion } from "../../core/migrations/protocol-version.ts";
import type { CanceledTask } from "../../core/operations/control.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import type { WadiInternals } from "../internals.ts";
import type { SubmitEntry, SubmitOptions } from "../submit/submit-options.ts";
import type { PayloadOf, SubmittedOf } from "../task-types.ts";
import type { Kickable } from "../wake/wake.ts";
import { transactionalCalls } from "./shared.ts";

/**
 * Submits and cancels as a part of a transaction that you commit or roll back: everything takes effect when you commit,
 * and nothing if you roll back.
 *
 * Nothing is sent again: after an error, roll back and run the transaction again. If the client is synchronous
 * (better-sqlite3), the methods return a value or throw; otherwise they return promises.
 *
 * @example
 * ```ts
 * import { Pool } from "pg";
 * import { Wadi } from "wadi";
 * import { pg } from "wadi/pg";
 *
 * const pool = new Pool();
 * const wadi = new Wadi(pg(pool));
 * const client = await pool.connect();
 * await client.query("begin");
 * await client.query("insert into orders (id) values (7)");
 * await wadi.with(client).submit("invoice", { order: 7 });
 * await client.query("commit");
 * client.release();
 * ```
 */
export interface TransactionClient<Sync extends boolean = boolean> {
  /**
   * Queues one task, see `Wadi.submit`. With a `wake` or a `hint`, call `kick()` of the answer once you have committed.
   *
   * @throws {AlreadyExists} under the policy `reject`; the transaction remains usable.
   * @throws {DriverError} if the database refuses it, or if tables are missing: they cannot be created in here.
   */
  submit<T extends string | AnyTaskDefinition>(
    task: T,
    payload: PayloadOf<T>,
    options?: SubmitOptions,
  ): Answer<Sync, SubmittedOf<T> & Kickable>;
  /** Queues many tasks of one name, see `Wadi.submitMany`. */
  submitMany<T extends string | AnyTaskDefinition>(
    task: T,
    entries: readonly SubmitEntry<PayloadOf<T>>[],
  ): Answer<Sync, SubmittedOf<T>[] & Kickable>;
  /** Cancels a queued task or asks a running one to stop, and returns it; null if there is none. */
  cancel(id: string): Answer<Sync, CanceledTask | null>;
  /** `cancel` for the task a key points at. */
  cancelByKey(key: string): Answer<Sync, CanceledTask | null>;
}

export function transactionClient<Sync extends boolean>(
  internals: WadiInternals,
  tx: unknown,
): TransactionClient<Sync> {
  const { session, executor } = internals;
  const { name } = executor;
  /** Looked up for each operation: the application may have ended it. */
  const open = () => {
    const opened = executor.within?.(tx);
    if (opened) return opened;
    if (opened === null) {
      throw new InvalidArgument(
        `with(tx) found no open transaction of ${name}; begin one first, ` +
          "and pass the client or tx it runs on before it ends",
      );
    }
    throw new Unsupported(`${name} has no transactions that stay open; use wadi.statements in a batch`);
  };
  return transactionalCalls(internals, {
    isSync: open().isSync,
    readsAfterCommit: false,
    send({ name: operation, statements, decode }) {
      const guard = session.versionGuard(statements);
      const done = (results: readonly Row[][]) => decode(results.slice(guard.length));
      const fail = (error: unknown) => {
        if (WadiError.is(error)) throw error;
        const mismatch = otherVersion(error);
        if (mismatch !== undefined) throw mismatch;
        const kind = executor.classify(error);
        const advice =
          kind === "missing-schema"
            ? "its tables are missing and cannot be made in your transaction; run wadi.migrate() before it"
            : "roll your transaction back; the cause says why";
        throw session.driverError(operation, kind, error, advice);
      };
      try {
        const results = open().batch([...guard, ...statements]);
        return results instanceof Promise ? results.then(done).catch(fail) : done(results);
      } catch (error) {
        return fail(error);
      }
    },
  }) as TransactionClient<Sync>;
}
