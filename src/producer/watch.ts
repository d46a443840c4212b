import type { TaskRef, TaskState } from "../core/operations/read.ts";
import type { Store } from "../core/store.ts";
import { isTerminal } from "../core/task.ts";
import type { Signals } from "./signals.ts";
import { type CheckedWait, Looks, timedOut } from "./wait.ts";

/** What a `return()` aborts its pending look with. */
const RETURNED = {};

/** The states of a task, each time they have changed, until one is terminal. `return()` ends a pause at once. */
export function watchTask(
  store: Store,
  ref: TaskRef,
  wait: CheckedWait,
  signals: Signals,
): AsyncIterableIterator<TaskState> {
  const stop = new AbortController();
  const abort = () => stop.abort(wait.signal!.reason);
  wait.signal?.addEventListener("abort", abort);
  const end = () => wait.signal?.removeEventListener("abort", abort);
  const states = look(store, ref, { ...wait, signal: stop.signal }, signals, end);
  return {
    next: () => states.next(),
    return: () => {
      stop.abort(RETURNED);
      end();
      return states.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* look(
  store: Store,
  ref: TaskRef,
  wait: CheckedWait,
  signals: Signals,
  end: () => void,
): AsyncGenerator<TaskState, undefined> {
  const looks = new Looks(wait, signals);
  let id = "id" in ref ? ref.id : null;
  let last = "";
  try {
    for (;;) {
      looks.expect(id);
      const state = await store.getStatus(ref, looks.call);
      const shown = JSON.stringify(state);
      if (state !== null && shown !== last) {
        last = shown;
        id = state.id;
        looks.expect(id);
        yield state;
        if (isTerminal(state.status)) return;
      }
      if (looks.leftMs <= 0) throw timedOut(ref, wait.timeoutMs, await store.get(ref, looks.call));
      await looks.pause();
    }
  } catch (error) {
    if (error !== RETURNED) throw error;
  } finally {
    looks.release();
    end();
  }
}
