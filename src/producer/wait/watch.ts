/** Following the changes of one task, as an async iterator. */
import type { TaskRef, TaskState } from "../../core/operations/read.ts";
import { isTerminal } from "../../core/task.ts";
import { endOnAbort } from "./end-on-abort.ts";
import type { OpenWaits } from "./open-waits.ts";
import type { PendingWait } from "./pending-wait.ts";
import { timedOut } from "./timed-out.ts";
import type { CheckedWait } from "./wait-options.ts";

type Next = IteratorResult<TaskState, undefined>;
const DONE: Next = { done: true, value: undefined };

/** The states of a task, each time they have changed, until one is terminal. See `wadi.watch`. */
export function watchTask(
  loop: OpenWaits,
  ref: TaskRef,
  wait: CheckedWait,
): AsyncIterableIterator<TaskState> {
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
  readonly #loop: OpenWaits;
  readonly #ref: TaskRef;
  readonly #wait: CheckedWait;
  readonly #removeAbort: () => void;
  #open: PendingWait | undefined;
  #last = "";
  #hasEnded = false;
  /** An error that came while no call waited; the next call throws it. */
  #failure: { readonly error: unknown } | undefined;
  #pendingCall: ReturnType<typeof Promise.withResolvers<Next>> | undefined;
  /** Calls resolve in their order. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(loop: OpenWaits, ref: TaskRef, wait: CheckedWait) {
    this.#loop = loop;
    this.#ref = ref;
    this.#wait = wait;
    this.#removeAbort = endOnAbort(wait.signal, (reason) => this.#fail(reason));
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
    this.#pendingCall = Promise.withResolvers<Next>();
    if (this.#open === undefined) this.#open = this.#begin();
    else this.#loop.resume(this.#open);
    return this.#pendingCall.promise;
  }

  /** Releases everything, and ends a call that waits. */
  end(): void {
    this.#hasEnded = true;
    this.#removeAbort();
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
        const call = this.#pendingCall;
        this.#pendingCall = undefined;
        this.end();
        call?.resolve(answer);
      },
      ended() {},
      timedOut: (task, error) =>
        this.#fail(timedOut(this.#ref, this.#wait.timeoutMs, task, error, this.#loop.nowMs)),
      failed: (error) => this.#fail(error),
    });
  }

  #answer(next: Next): void {
    this.#pendingCall?.resolve(next);
    this.#pendingCall = undefined;
  }

  #fail(error: unknown): void {
    const call = this.#pendingCall;
    this.#pendingCall = undefined;
    if (call === undefined) this.#failure = { error };
    this.end();
    call?.reject(error);
  }
}
