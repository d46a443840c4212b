import { text } from "../core/arguments.ts";
import { sleep } from "../core/backoff.ts";
import { InvalidArgument, TaskTimeout } from "../core/errors.ts";
import { byteLength } from "../core/json.ts";
import type { NamedStatus } from "../core/operations/read.ts";
import type { Store } from "../core/store.ts";
import { isTerminal, type Task } from "../core/task.ts";
import type { Signals } from "./signals.ts";
import { type CheckedWait, Looks } from "./wait.ts";

/** Whole rows that are read at once: payloads and results may be large. */
const ROWS = 100;

/**
 * Waits until all of these ids or keys have a terminal task, and returns the tasks in this order. Each look is at all
 * that are open. A signal is answered after a pause that grows with their number, so that many ends share a look.
 */
export async function waitForTasks(
  store: Store,
  names: readonly string[],
  byKey: boolean,
  wait: CheckedWait,
  signals: Signals,
): Promise<Task[]> {
  const looks = new Looks(wait, signals);
  const done = new Map<string, Task>();
  /** What each takes in a JSON array. */
  const bytes = new Map(names.map((name) => [name, byteLength(JSON.stringify(name)) + 1]));
  for (;;) {
    const open = [...bytes.keys()].filter((name) => !done.has(name));
    const wakes = byKey ? [] : open.map((id) => signals.subscribe(id));
    try {
      const ended: NamedStatus[] = [];
      for (const part of parts(open, store.maxBytes - 1, (name) => bytes.get(name)!)) {
        for (const seen of await store.getStatuses({ names: part, byKey }, looks.call)) {
          if (isTerminal(seen.status)) ended.push(seen);
          else wakes.push(signals.subscribe(seen.id)); // by key only the look tells the id
        }
      }
      for (const part of parts(ended, ROWS, () => 1)) {
        const ids = [...new Set(part.map(({ id }) => id))];
        const tasks = new Map((await store.getMany(ids, looks.call)).map((task) => [task.id, task]));
        for (const { name, id } of part) {
          const task = tasks.get(id);
          if (task && isTerminal(task.status)) done.set(name, task);
        }
      }
      const missing = open.filter((name) => !done.has(name));
      if (missing.length === 0) return names.map((name) => done.get(name)!);
      if (looks.leftMs <= 0) {
        const few = missing.slice(0, 3).join(", ") + (missing.length > 3 ? ", ..." : "");
        const message = `waited ${wait.timeoutMs} ms: ${missing.length} of ${missing.length + done.size} tasks not done, ${few}`;
        throw new TaskTimeout(message, { id: null, key: null, task: null, missing });
      }
      await looks.pause(Promise.race(wakes.map(({ fired }) => fired)));
      if (looks.woken) await sleep(Math.min(wait.pollMs, missing.length / 10), wait.signal);
    } finally {
      for (const wake of wakes) wake.release();
    }
  }
}

/** @throws {InvalidArgument} naming the method, if this is no list of names. */
export function namesOf<T>(
  method: string,
  what: "id" | "key",
  list: readonly T[],
  nameOf: (item: T) => unknown,
): string[] {
  if (!Array.isArray(list)) throw new InvalidArgument(`${method} takes an array of ${what}s`);
  return list.map((item) => text(what, nameOf(item)));
}

/** Cuts a list into parts of at most this size each. */
function parts<T>(list: readonly T[], most: number, sizeOf: (item: T) => number): T[][] {
  const cut: T[][] = [];
  let left = 0;
  for (const item of list) {
    const size = sizeOf(item);
    if (cut.length === 0 || size > left) {
      cut.push([]);
      left = most;
    }
    cut.at(-1)!.push(item);
    left -= size;
  }
  return cut;
}
