import type { TaskRef, TaskState } from "../../core/operations/read.ts";
import { isTerminal } from "../../core/task.ts";
import { endOnAbort, withResolvers } from "./end-on-abort.ts";
import type { PendingWait } from "./pending-wait.ts";
import type { PollLoop } from "./poll-loop.ts";
import { timedOut } from "./timed-out.ts";
import type { CheckedWait } from "./wait-options.ts";

type Next = IteratorResult<TaskState, undefined>;
const DONE: Next = { done: true, value: undefined };

/** The states of a task, each time they have changed, until one is terminal. `return()` ends it at once. */
export function watchTask(loop: PollLoop, ref: TaskRef, wait: CheckedWait): AsyncIterableIterator<TaskState> {
  const watch = new Watch(loop, ref, wait);
  return {
    next: () => watch.next(),
    return: async () => {
      watch.end();
      return DONE;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Polls only while the caller waits for the next change. */
class Watch {
  readonly #loop: PollLoop;
  readonly #ref: TaskRef;
  readonly #wait: CheckedWait;
  readonly #endAbort: () => void;
  #open: PendingWait | undefined;
  #last = "";
  #hasEnded = false;
  /** What the next call throws, although it came before that call. */
  #failure: { readonly error: unknown } | undefined;
  #asked: ReturnType<typeof withResolvers<Next>> | undefined;
  /** Calls are answered in their order. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(loop: PollLoop, ref: TaskRef, wait: CheckedWait) {
    this.#loop = loop;
    this.#ref = ref;
    this.#wait = wait;
    this.#endAbort = endOnAbort(wait.signal, (reason) => this.#fail(reason));
  }

  next(): Promise<Next> {
    const answer = this.#turn.then(() => this.#next());
    this.#turn = answer.catch(() => {});
    return answer;
  }

  #next(): Promise<Next> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) return Promise.reject(failure.error);
    if (this.#hasEnded) return Promise.resolve(DONE);
    this.#asked = withResolvers<Next>();
    if (this.#open === undefined) this.#open = this.#begin();
    else this.#loop.resume(this.#open);
    return this.#asked.promise;
  }

  /** Releases everything; a call that waits is answered. */
  end(): void {
    this.#hasEnded = true;
    this.#endAbort();
    if (this.#open !== undefined) this.#loop.close(this.#open);
    this.#answer(DONE);
  }

  #begin(): PendingWait {
    return this.#loop.open("changes", [this.#ref], this.#wait, {
      seen: (state) => {
        const shown = JSON.stringify(state);
        if (state === null || shown === this.#last) return;
        this.#last = shown;
        this.#open!.pause();
        const answer: Next = { done: false, value: state };
        if (!isTerminal(state.status)) return this.#answer(answer);
        const asked = this.#asked;
        this.#asked = undefined;
        this.end();
        asked?.resolve(answer);
      },
      ended() {},
      timedOut: (task, error) =>
        this.#fail(timedOut(this.#ref, this.#wait.timeoutMs, task, error, this.#loop.nowMs)),
      failed: (error) => this.#fail(error),
    });
  }

  #answer(next: Next): void {
    this.#asked?.resolve(next);
    this.#asked = undefined;
  }

  #fail(error: unknown): void {
    const asked = this.#asked;
    this.#asked = undefined;
    if (asked === undefined) this.#failure = { error };
    this.end();
    asked?.reject(error);
  }
}
