/** Watches, replaces or delays the operations that a `Wadi` sends. */

import type { Operation } from "../src/core/operations/operation.ts";
import type { OperationOptions } from "../src/core/session/operation-options.ts";
import { internalsOf } from "../src/producer/internals.ts";

// biome-ignore lint/suspicious/noExplicitAny: what an operation answers depends on its name
type Answer = Promise<any>;

/**
 * Called in place of an operation; `send` sends it.
 */
export type Intercept = (send: () => Answer, call: OperationOptions, operation: Operation<unknown>) => Answer;

/**
 * Calls `intercept` in place of each operation of this name. The newest one is called first; the returned function
 * removes it and all newer ones.
 */
export function interceptOperations(wadi: unknown, name: string, intercept: Intercept): () => void {
  const { session } = internalsOf(wadi);
  const { execute } = session;
  session.execute = (operation, call = {}) => {
    const send = () => execute.call(session, operation, call) as Answer;
    return operation.name === name ? intercept(send, call, operation) : send();
  };
  return () => {
    session.execute = execute;
  };
}

/** Counts the operations of this name. */
export function countOperations(wadi: unknown, name: string): { readonly count: number } {
  const seen = { count: 0 };
  interceptOperations(wadi, name, (send) => {
    seen.count++;
    return send();
  });
  return seen;
}
