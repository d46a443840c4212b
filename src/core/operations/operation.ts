import type { WadiError } from "../errors/errors.ts";
import type { Dialect, Executor, Row, SendOptions, Statement } from "../executor.ts";
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
  /** Whether it does no harm that a power failure takes back what it wrote, as if it had not been sent. */
  readonly mayBeLost?: boolean;
  /** What to send once an earlier try may have been committed. Absent where the same statements tell the same. */
  resend?(): Operation<T>;
  /** Sends the statements (before them perhaps a guard) otherwise than as a batch of them alone. */
  send?(
    executor: Executor,
    statements: readonly Statement[],
    options: SendOptions,
  ): Promise<readonly Row[][]>;
  /** How many statements of the application's own `send` adds. */
  readonly sendsMore?: number;
  /** What a database's error means, where it is an answer and not a failure. */
  explain?(error: unknown): WadiError | undefined;
}

/** Where an operation runs: which SQL it needs and what it takes for the present time. */
export interface SqlTarget {
  readonly dialect: Dialect;
  readonly protocol: Protocol;
  /** Null leaves the time to the database. */
  readonly nowMs: number | null;
}

/** An operation of one statement. */
export function single<T>(
  name: string,
  statement: Statement,
  decode: (rows: readonly Row[]) => T,
): Operation<T> {
  return { name, statements: [statement], decode: ([rows]) => decode(rows!) };
}

/** Operations of one kind in one round trip. */
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

/** Two operations in one round trip, in this order. */
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

/** An operation that was sent before and may have been committed; every further send is one again. */
export function asResend<T>(operation: Operation<T>): Operation<T> {
  const resent = operation.resend?.() ?? operation;
  return { ...resent, resend: () => resent };
}
