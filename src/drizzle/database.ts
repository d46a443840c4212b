/** Drizzle databases and transactions: how Wadi finds the client in them, and refuses what it cannot use. */

import { InvalidArgument } from "../core/errors/errors.ts";
import type { Executor } from "../core/executor.ts";

/** The part of a Drizzle database that Wadi uses: the client it was created from. */
export interface DrizzleDatabase<Client> {
  /** The client it was created from. */
  readonly $client: Client;
}

/** A transaction of Drizzle: its session sends through `tx` (libSQL) or `client` (all others). */
interface DrizzleTransaction {
  readonly nestedIndex?: unknown;
  readonly session?: { readonly tx?: unknown; readonly client?: unknown };
}

/** Whether `value` has all of these methods. */
export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  const methods = (value ?? {}) as Record<string, unknown>;
  return names.every((name) => typeof methods[name] === "function");
}

/** The same executor, which also accepts a Drizzle transaction as a transaction of its client. */
export function withTransactions<E extends Executor>(executor: E): E {
  const { within } = executor;
  return within === undefined ? executor : { ...executor, within: (tx: unknown) => within(nativeOf(tx)) };
}

function nativeOf(tx: unknown): unknown {
  const { nestedIndex, session } = (tx ?? {}) as DrizzleTransaction;
  if (typeof nestedIndex !== "number" || session === undefined) return tx;
  return session.tx ?? session.client;
}

/** @throws {InvalidArgument} always, with what `db` is and what is accepted. */
export function refuse(db: unknown, clients: readonly string[]): never {
  const accepted = `${clients.slice(0, -1).join(", ")} or ${clients.at(-1)}`;
  throw new InvalidArgument(`fromDrizzle takes a Drizzle database of ${accepted}, got ${nameOf(db)}`);
}

/** Drizzle stores the names of its classes under a symbol, because a bundler renames the classes. */
function nameOf(db: unknown): string {
  if (typeof db !== "object" || db === null) return db === null ? "null" : typeof db;
  if (typeof (db as DrizzleTransaction).nestedIndex === "number") {
    return "a transaction; create the executor from the database, and use wadi.with(tx) for the transaction";
  }
  const kind = (db.constructor as { [ENTITY_KIND]?: unknown } | undefined)?.[ENTITY_KIND];
  if (typeof kind === "string") return `a ${kind} of another client`;
  return "$client" in db ? "a database of another client" : "an object without $client";
}

const ENTITY_KIND = Symbol.for("drizzle:entityKind");
