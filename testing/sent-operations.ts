import type { Wadi } from "../src/index.ts";
import { internalsOf } from "../src/producer/internals.ts";

/** Records the names of the operations that a client sends from now on, in order. */
export function sentOperations(wadi: Wadi): string[] {
  const { session } = internalsOf(wadi);
  const names: string[] = [];
  const execute = session.execute.bind(session);
  session.execute = (operation, call) => {
    names.push(operation.name);
    return execute(operation, call);
  };
  return names;
}
