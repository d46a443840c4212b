/** Reads the states of all tasks that a poll asks about. */
import { getStates, getStatus, type TaskState } from "../../core/operations/read.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { Session } from "../../core/session/session.ts";
import type { WaitRef } from "./pending-wait.ts";

/**
 * Reads the states of these references, each id or key once: in one statement, or in several if they do not fit into
 * one parameter. Null: there is no task, or the task of an id is not terminal.
 */
export async function readStates(
  session: Session,
  refs: readonly WaitRef[],
  call: OperationOptions,
): Promise<Map<WaitRef, TaskState | null>> {
  const states = new Map<WaitRef, TaskState | null>();
  if (refs.length === 1) {
    const [ref] = refs;
    return states.set(ref!, await session.execute(getStatus(session.target, ref!.ref), call));
  }
  const byValue = Map.groupBy(refs, (ref) => listOf(ref) + ref.value);
  for (const part of splitBySize(
    [...byValue.values()],
    session.executor.limits.maxParamBytes - 1,
    ([ref]) => ref!.bytes,
  )) {
    const values = { ids: [] as string[], watched: [] as string[], keys: [] as string[] };
    for (const [ref] of part) values[listOf(ref!)].push(ref!.value);
    const found = new Map<string, TaskState>();
    for (const { ref, byKey, ...state } of await session.execute(getStates(session.target, values), call)) {
      found.set((byKey ? "k" : "i") + ref, state);
    }
    for (const same of part) {
      const [ref] = same;
      const state = found.get(("key" in ref!.ref ? "k" : "i") + ref!.value) ?? null;
      for (const each of same) states.set(each, state);
    }
  }
  return states;
}

function listOf({ ref, wait }: WaitRef): "ids" | "watched" | "keys" {
  if ("key" in ref) return "keys";
  return wait.kind === "changes" ? "watched" : "ids";
}

/** Splits a list into parts of at most this size. */
function splitBySize<T>(list: readonly T[], maxSize: number, sizeOf: (item: T) => number): T[][] {
  const cut: T[][] = [];
  let left = 0;
  for (const item of list) {
    const size = sizeOf(item);
    if (cut.length === 0 || size > left) {
      cut.push([]);
      left = maxSize;
    }
    cut.at(-1)!.push(item);
    left -= size;
  }
  return cut;
}
