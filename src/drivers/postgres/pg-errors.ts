// What the errors of node-pg mean. Most have a SQLSTATE; the others have a text, or come before anything was sent.

import { causeChain } from "../../core/errors/causes.ts";
import type { ErrorClass } from "../../core/executor.ts";
import { classifySqlState, failedToConnect, sqlStateOf } from "./sqlstate.ts";

/** No such prepared statement, a name that exists already, a result with another shape now. */
const STALE_PLAN = ["26000", "42P05", "0A000"];

/** node-pg has texts and no codes for a pool that was ended, and for a client that was ended or lost its connection. */
const POOL_ENDED = /after calling end on the pool/;
const CLIENT_ENDED = /not queryable/;

/** How a prepared statement went stale: nothing else is mended by sending it again. */
export function stalePlanCode(error: unknown): string | undefined {
  const code = sqlStateOf(error) ?? "";
  return STALE_PLAN.includes(code) ? code : undefined;
}

/** The errors of one executor whose statements were never sent, so that nothing of them was run. */
export class UnsentErrors {
  readonly #errors = new WeakSet<object>();

  add(error: unknown): void {
    if (typeof error === "object" && error !== null) this.#errors.add(error);
  }

  /** Whether `error` or one of its causes is among them. */
  has(error: unknown): boolean {
    return causeChain(error).some((cause) => this.#errors.has(cause));
  }
}

/** @param isPool Whether the client is a pool, which replaces a connection that was lost; a client does not. */
export function classifyPg(error: unknown, unsent: UnsentErrors, isPool: boolean): ErrorClass {
  const code = sqlStateOf(error);
  if (unsent.has(error)) {
    if (/^(?:28|3D|42)/.test(code ?? "")) return "denied";
    return isEnded(error, isPool ? POOL_ENDED : CLIENT_ENDED) ? "unusable" : "unavailable";
  }
  if (code !== undefined) return classifySqlState(code);
  return failedToConnect(error) ? "unavailable" : "unknown";
}

function isEnded(error: unknown, text: RegExp): boolean {
  return causeChain(error).some(({ message }) => typeof message === "string" && text.test(message));
}
