/** The one way by which the rest of the package reaches what a `Wadi` keeps from applications. */
import { InvalidArgument } from "../core/errors/errors.ts";
import type { Executor } from "../core/executor.ts";
import type { Session } from "../core/session/session.ts";
import { show } from "../core/validate.ts";
import type { HintCells } from "./hint/hint-cells.ts";
import type { Notifier } from "./notify/notifier.ts";
import type { Submitter } from "./submit/submitter.ts";
import type { Waker } from "./wake/waker.ts";

export interface WadiInternals {
  readonly executor: Executor;
  /** Sends operations of the protocol, whose arguments have been checked. */
  readonly session: Session;
  /** Reports new, ended and canceled tasks, within this process and from a database that supports LISTEN. */
  readonly notifier: Notifier;
  readonly submitter: Submitter;
  /** Keeps the next due time outside of the database; null without the option `hint`. */
  readonly hint: HintCells | null;
  /** Sends kicks; null without the option `wake`. */
  readonly waker: Waker | null;
}

/**
 * Registered by name: a bundler may load this module twice, and a `Worker` of one copy takes a `Wadi` of the other. The
 * number changes with the shape of `WadiInternals`.
 */
const INTERNALS = Symbol.for("wadi.internals.2");

export function setInternals(wadi: object, internals: WadiInternals): void {
  Object.defineProperty(wadi, INTERNALS, { value: internals }); // not enumerable: neither printed nor copied
}

/** @throws {InvalidArgument} if it is not a `Wadi`; the message begins with `taker`. */
export function internalsOf(wadi: unknown, taker = "internalsOf"): WadiInternals {
  const internals = (wadi as { readonly [INTERNALS]?: WadiInternals } | null | undefined)?.[INTERNALS];
  if (internals !== undefined) return internals;
  throw new InvalidArgument(`${taker} takes a Wadi, such as new Wadi(betterSqlite3(db)), got ${show(wadi)}`);
}
