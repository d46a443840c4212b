import { text } from "./arguments.ts";
import { InvalidArgument, TaskTimeout } from "./errors.ts";
import type { NamedStatus } from "./operations/read.ts";
import type { Signals, Wake } from "./signals.ts";
import type { Store } from "./store.ts";
import { isTerminal, type Task } from "./task.ts";
import { type CheckedWait, Looks } from "./wait.ts";

/** Whole rows that are read at once: payloads and results may be large. */
const ROWS = 100;
/** Most bytes of a name in JSON, where each of its characters is escaped. */
const NAME_BYTES = 6 * 1024 + 3;

/** Waits until all of these ids or keys have a terminal task, and returns the tasks in this order. */
export async function waitForTasks(
  store: Store,
  names: readonly string[],
  byKey: boolean,
  wait: CheckedWait,
  signals: Signals,
): Promise<Task[]> {
  const looks = new Looks(wait, signals);
  const done = new Map<string, Task>();
  const open = new Map<string, { id: string; wake: Wake } | null>(names.map((name) => [name, null]));
  let fired = new Set<string>();
  let wakeUp = (): void => {};
  let lookAtAllMs = 0;

  function expect(name: string, id: string): void {
    const known = open.get(name);
    if (known?.id === id) return;
    known?.wake.release();
    const wake = signals.subscribe(id);
    void wake.fired.then(() => {
      wake.release();
      fired.add(name);
      if (open.get(name)?.wake === wake) open.set(name, null);
      wakeUp();
    });
    open.set(name, { id, wake });
  }

  /** By id what has fired is taken as done. All else is looked at, and by key the look tells the ids. */
  async function lookAt(asked: readonly string[], areFired: boolean): Promise<[name: string, id: string][]> {
    if (areFired && !byKey) return asked.map((name) => [name, name]);
    const found: NamedStatus[] = [];
    for (const part of parts(asked, Math.floor(store.maxBytes / NAME_BYTES))) {
      found.push(...(await store.getStatuses({ names: part, byKey }, looks.call)));
    }
    for (const { name, id, status } of found) if (!isTerminal(status)) expect(name, id);
    return found.filter(({ status }) => isTerminal(status)).map(({ name, id }) => [name, id]);
  }

  try {
    for (;;) {
      const woken = fired;
      fired = new Set();
      if (!byKey) for (const name of open.keys()) expect(name, name);
      // However many ends are told one by one, the others are looked at from time to time.
      const areFired = woken.size > 0 && Math.min(lookAtAllMs - Date.now(), looks.leftMs) > 0;
      const asked = areFired ? [...woken].filter((name) => open.has(name)) : [...open.keys()];
      if (!areFired) lookAtAllMs = Date.now() + wait.maxPollMs;
      for (const part of parts(await lookAt(asked, areFired), ROWS)) {
        const tasks = await store.getMany([...new Set(part.map(([, id]) => id))], looks.call);
        const terminal = new Map(
          tasks.filter(({ status }) => isTerminal(status)).map((task) => [task.id, task]),
        );
        for (const [name, id] of part) {
          const task = terminal.get(id);
          if (task === undefined) continue;
          done.set(name, task);
          open.get(name)?.wake.release();
          open.delete(name);
        }
      }
      if (open.size === 0) return names.map((name) => done.get(name)!);
      if (looks.leftMs <= 0) throw missing([...open.keys()], byKey, wait.timeoutMs, done.size);
      await looks.pause(
        new Promise((resolve) => {
          wakeUp = resolve;
          if (fired.size > 0) resolve();
        }),
      );
    }
  } finally {
    for (const known of open.values()) known?.wake.release();
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

function parts<T>(list: readonly T[], size: number): T[][] {
  const cut: T[][] = [];
  for (let at = 0; at < list.length; at += size) cut.push(list.slice(at, at + size));
  return cut;
}

function missing(names: readonly string[], byKey: boolean, timeoutMs: number, done: number): TaskTimeout {
  const all = names.length + done;
  const few = names.slice(0, 3).map((name) => (byKey ? `"${name}"` : name));
  const message = `waited ${timeoutMs} ms for ${all} tasks: ${names.length} are not done, ${few.join(", ")}${names.length > 3 ? ", ..." : ""}`;
  return new TaskTimeout(message, { id: null, key: null, task: null, missing: names });
}
