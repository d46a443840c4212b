/** Counts the submits that create no task, because their key already has one: they need no room in a full queue. */
import { NEVER } from "../../core/infinity.ts";
import { getStates } from "../../core/operations/read.ts";
import type { NewTask } from "../../core/operations/submit.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import { getTasksByHalves } from "../../core/session/read-by-halves.ts";
import type { Session } from "../../core/session/session.ts";
import { isTerminal, type TaskStatus } from "../../core/task.ts";

/** How many of these submits would create no task. Costs one read, or two if any of them is throttled. */
export async function countExempt(
  session: Session,
  keyed: readonly NewTask[],
  call: OperationOptions,
): Promise<number> {
  const keys = [...new Set(keyed.map(({ key }) => key!))];
  const states = await session.execute(getStates(session.target, { ids: [], watched: [], keys }), call);
  const byKey = new Map(states.map((state) => [state.ref, state]));
  const young = await findYoung(
    session,
    keyed.filter(({ key, throttleMs }) => throttleMs !== undefined && byKey.has(key!)),
    (key) => byKey.get(key)!.id,
    call,
  );
  return keyed.filter((task) => {
    const state = byKey.get(task.key!);
    return state !== undefined && (young.has(task) || isKept(task.conflict, state.status));
  }).length;
}

/** Whether a submit under this policy leaves the key's task in its place. */
function isKept(conflict: NewTask["conflict"], status: TaskStatus): boolean {
  switch (conflict) {
    case "reject":
      return true; // its error says more than that there is no room
    case "debounce":
      return status === "queued";
    case "reuse":
      return !isTerminal(status);
    case "reuse-succeeded":
      return !isTerminal(status) || status === "succeeded";
    case "replace":
      return false;
  }
}

/** The submits whose key has a task that is younger than their throttle's window. */
async function findYoung(
  session: Session,
  throttled: readonly NewTask[],
  idOf: (key: string) => string,
  call: OperationOptions,
): Promise<Set<NewTask>> {
  if (throttled.length === 0) return new Set();
  const tasks = await getTasksByHalves(session, [...new Set(throttled.map(({ key }) => idOf(key!)))], call);
  const nowMs = session.target.nowMs ?? Date.now();
  const ages = new Map(tasks.map(({ id, createdAtMs }) => [id, nowMs - createdAtMs]));
  return new Set(throttled.filter(({ key, throttleMs }) => (ages.get(idOf(key!)) ?? NEVER) < throttleMs!));
}
