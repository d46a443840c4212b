/** Calls a handler, and gives its result or error to the attempts it was called for. */

import { InvalidArgument } from "../../core/errors/errors.ts";
import { NEVER } from "../../core/infinity.ts";
import type { WorkerHooks } from "../hooks.ts";
import type { BatchHandler, Handler } from "../task-context.ts";
import type { Attempt, AttemptCall } from "./attempt.ts";
import { AttemptContext } from "./attempt-context.ts";
import { resultOf } from "./batch-results.ts";
import type { Registration } from "./registration.ts";
import { validate } from "./validate.ts";

/** The drain that makes a handler call, as the call sees it. */
export interface HandlerCallOwner {
  /** Called once, when the call has returned or was cut off and all its attempts have ended. */
  callEnded(call: HandlerCall): void;
  /** Called with an error of the worker itself. */
  internalError(error: unknown): void;
  /** Called with an error that the handler threw after all attempts of the call had ended. */
  threwLate(attempt: Attempt, thrown: unknown): void;
}

/**
 * One call of one handler, for one task or for a batch. It has ended when the handler has returned or was cut off,
 * and all its attempts have ended; attempts may end sooner. Only the call writes its fields.
 */
export class HandlerCall implements AttemptCall {
  readonly attempts: readonly Attempt[];
  /** On the monotonic clock, as are all its times. */
  readonly startedAtMs: number;
  /** When its time is up and the signals of its attempts abort. */
  expiresAtMs: number;
  /** When it is cut off, once its signals have aborted. */
  cutOffAtMs = NEVER;
  readonly #owner: HandlerCallOwner;
  #attemptsLeft: number;
  #hasReturned = false;

  constructor(
    owner: HandlerCallOwner,
    attempts: readonly Attempt[],
    startedAtMs: number,
    expiresAtMs: number,
  ) {
    this.#owner = owner;
    this.attempts = attempts;
    this.#attemptsLeft = attempts.length;
    this.startedAtMs = startedAtMs;
    this.expiresAtMs = expiresAtMs;
  }

  get hasReturned(): boolean {
    return this.#hasReturned;
  }

  get registration(): Registration {
    return this.attempts[0]!.handler.registration;
  }

  attemptEnded(): void {
    if (--this.#attemptsLeft === 0 && this.#hasReturned) this.#owner.callEnded(this);
  }

  #return(): void {
    if (this.#hasReturned) return;
    this.#hasReturned = true;
    if (this.#attemptsLeft === 0) this.#owner.callEnded(this);
  }

  /** Calls the handler. Never throws. */
  run(hooks: WorkerHooks): void {
    const { payload, result } = this.registration;
    if (payload !== null || result !== null || hooks.around !== undefined) {
      this.#runChecked(hooks).catch((error) => this.#owner.internalError(error));
      return;
    }
    // With no schema and no hook to wait for, a synchronous handler costs no promise.
    try {
      const returned = this.#call(
        this.attempts.map((attempt) => new AttemptContext(attempt, attempt.task.payload)),
      );
      if (isThenable(returned)) {
        returned.then(
          (value) => this.#guard(() => this.#complete(value)),
          (error) => this.#guard(() => this.#fail(error)),
        );
      } else this.#complete(returned);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Runs work that no caller waits for: an error there is the worker's own. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#owner.internalError(error);
    }
  }

  /**
   * Its time is up: aborts the signals of its attempts. It is cut off at `cutOffAtMs` if it has not returned by then.
   */
  expire(why: string, cutOffAtMs: number): void {
    this.expiresAtMs = NEVER;
    this.cutOffAtMs = Math.min(this.cutOffAtMs, cutOffAtMs);
    for (const attempt of this.attempts) attempt.expire(why);
  }

  /** Ends its attempts, and counts it as returned although the handler goes on. */
  cutOff(): void {
    this.cutOffAtMs = NEVER;
    for (const attempt of this.attempts) attempt.cutOff();
    this.#return();
  }

  /** Calls the handler within the `around` hook, with validated payloads, and validates the results. */
  async #runChecked({ around }: WorkerHooks): Promise<void> {
    try {
      const contexts = await this.#contexts();
      if (contexts.length === 0) return this.#return();
      let hasRun = false;
      const run = async () => {
        hasRun = true;
        return this.#call(contexts);
      };
      const returned = await (around === undefined ? run() : around(contexts, run));
      // Otherwise a task would succeed although its handler was never called.
      if (!hasRun) throw new InvalidArgument("around must call run, and return what it resolves to");
      const { batch, result } = this.registration;
      if (result === null) return this.#complete(returned);
      this.#return();
      for (const attempt of this.attempts) {
        if (attempt.hasEnded) continue;
        try {
          const { id, task } = attempt;
          attempt.complete(await validate(result, "result", task, resultOf(id, returned, batch)));
        } catch (error) {
          attempt.fail(error);
        }
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * The contexts of the attempts whose payload is valid. The other attempts fail, and the handler does not get them.
   */
  async #contexts(): Promise<AttemptContext[]> {
    const { payload } = this.registration;
    const contexts: AttemptContext[] = [];
    for (const attempt of this.attempts) {
      try {
        const given = attempt.task.payload;
        const value = payload === null ? given : await validate(payload, "payload", attempt.task, given);
        if (!attempt.hasEnded) contexts.push(new AttemptContext(attempt, value));
      } catch (error) {
        attempt.fail(error);
      }
    }
    return contexts;
  }

  #call(contexts: readonly AttemptContext[]): unknown {
    const { handler, batch } = this.registration;
    return batch === null ? (handler as Handler)(contexts[0]!) : (handler as BatchHandler)(contexts);
  }

  #complete(returned: unknown): void {
    this.#return();
    const { batch } = this.registration;
    for (const attempt of this.attempts) {
      try {
        attempt.complete(resultOf(attempt.id, returned, batch));
      } catch (error) {
        attempt.fail(error); // the results may be an object whose getters throw
      }
    }
  }

  #fail(error: unknown): void {
    const isLate = this.#attemptsLeft === 0;
    this.#return();
    for (const attempt of this.attempts) attempt.fail(error);
    if (isLate) this.#owner.threwLate(this.attempts[0]!, error);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function";
}
