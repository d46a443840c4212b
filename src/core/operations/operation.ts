/**
 * An operation of the protocol as data: its statements, and how their rows are read. Also ways to combine operations.
 */

import type { WadiError } from "../errors/errors.ts";
import type { Dialect, Executor, Limits, Row, SendOptions, Statement } from "../executor.ts";
import type { Protocol } from "../protocol.ts";

/**
 * One operation as data: a fixed list of statements that is one round trip, and how to read the rows.
 * No statement depends on what the caller saw of an earlier one; conditions live in the SQL.
 */
export interface Operation<T> {
  /** For messages, such as `submit`. */
  readonly name: string;
  readonly statements: readonly Statement[];
  decode(results: readonly Row[][]): T;
  /** Whether a power failure may undo its writes without harm, as if it had not been sent. */
  readonly mayBeLost?: boolean;
  /** The operation to send once an earlier try may have been committed. Omit if the statements are idempotent. */
  resend?(): Operation<T>;
  /** Sends the statements, which a guard may precede, in another way than as a batch that holds nothing else. */
  send?(
    executor: Executor,
    statements: readonly Statement[],
    options: SendOptions,
  ): Promise<readonly Row[][]>;
  /** How many statements of the application `send` adds. */
  readonly sendsMore?: number;
  /** The error to throw for an error of the database that is an answer rather than a failure. */
  explain?(error: unknown): WadiError | undefined;
}

/** The database an operation is built for: its SQL, what it accepts, and the present time. */
export interface SqlTarget {
  readonly dialect: Dialect;
  readonly protocol: Protocol;
  readonly limits: Limits;
  /** Null leaves the time to the database. */
  readonly nowMs: number | null;
  /** The environment of the client; null: it has none. */
  readonly scope: string | null;
}

/** An operation of one statement. */
export function single<T>(
  name: string,
  statement: Statement,
  decode: (rows: readonly Row[]) => T,
): Operation<T> {
  return { name, statements: [statement], decode: ([rows]) => decode(rows!) };
}

/** Operations of one kind as one operation, and so in one round trip. */
export function combine<T>(name: string, operations: readonly Operation<T>[]): Operation<T[]> {
  return {
    name,
    statements: operations.flatMap(({ statements }) => statements),
    decode: (results) => {
      let next = 0;
      return operations.map(({ statements, decode }) => {
        const first = next;
        next += statements.length;
        return decode(results.slice(first, next));
      });
    },
  };
}

/** Two operations as one, in this order, and so in one round trip. */
export function combineTwo<A, B>(name: string, first: Operation<A>, second: Operation<B>): Operation<[A, B]> {
  const size = first.statements.length;
  return {
    name,
    statements: [...first.statements, ...second.statements],
    mayBeLost: [first, second].every(({ statements, mayBeLost }) => mayBeLost ?? statements.length === 0),
    decode: (results) => [first.decode(results.slice(0, size)), second.decode(results.slice(size))],
    resend: () => combineTwo(name, first.resend?.() ?? first, second.resend?.() ?? second),
  };
}

/** An operation that was sent before and may have been committed, so that every further send is a resend. */
export function asResend<T>(operation: Operation<T>): Operation<T> {
  const resent = operation.resend?.() ?? operation;
  return { ...resent, resend: () => resent };
}
