/** Waiting for the ends of many tasks. */
import { InvalidArgument, TaskTimeout } from "../../core/errors/errors.ts";
import type { Task } from "../../core/task.ts";
import { show, text } from "../../core/validate.ts";
import { endOnAbort } from "./end-on-abort.ts";
import type { OpenWaits } from "./open-waits.ts";
import { notReadable } from "./timed-out.ts";
import type { CheckedWait } from "./wait-options.ts";

/** Waits until all of these ids or keys have a terminal task, and returns the tasks in this order. */
export function waitForTasks(
  loop: OpenWaits,
  names: readonly string[],
  byKey: boolean,
  wait: CheckedWait,
): Promise<Task[]> {
  if (names.length === 0) return Promise.resolve([]);
  const { promise, resolve, reject } = Promise.withResolvers<Task[]>();
  const tasks = new Map<string, Task>();
  const wanted = new Set(names);
  const end = endOnAbort(wait.signal, (reason) => {
    loop.close(open);
    reject(reason);
  });
  const refs = [...wanted].map((name) => (byKey ? { key: name } : { id: name }));
  const open = loop.open("many", refs, wait, {
    ended({ value }, task) {
      tasks.set(value, task);
      if (tasks.size < wanted.size) return;
      end();
      resolve(names.map((each) => tasks.get(each)!));
    },
    timedOut(_task, error) {
      end();
      const missing = [...wanted].filter((name) => !tasks.has(name));
      reject(timedOut(wait.timeoutMs, missing, wanted.size, error));
    },
    failed(error) {
      end();
      reject(error);
    },
  });
  return promise;
}

function timedOut(timeoutMs: number, missing: readonly string[], all: number, error: unknown): TaskTimeout {
  const few = missing.slice(0, 3).join(", ") + (missing.length > 3 ? ", ..." : "");
  const why =
    error === undefined
      ? "; wait longer, or read one of them to see which state it is stuck in"
      : `; ${notReadable(error)}`;
  const message = `waited ${timeoutMs} ms: ${missing.length} of ${all} tasks are not done (${few})${why}`;
  return new TaskTimeout(message, { id: null, key: null, task: null, missing }, { cause: error });
}

/** @throws {InvalidArgument} naming the method, if this is no list of names. */
export function namesOf<T>(
  method: string,
  what: "id" | "key",
  list: readonly T[],
  nameOf: (item: T) => unknown,
): string[] {
  if (!Array.isArray(list))
    throw new InvalidArgument(
      `${method} takes an array of ${what === "id" ? "tasks or ids" : "keys"}, got ${show(list)}`,
    );
  return list.map((item) => text(what, nameOf(item)));
}
