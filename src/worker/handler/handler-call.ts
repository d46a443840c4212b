import { InvalidArgument, TaskError } from "../../core/errors/errors.ts";
import type { WorkerHooks } from "../hooks.ts";
import type { BatchHandler, BatchResults, Handler } from "../task-context.ts";
import type { Attempt } from "./attempt.ts";
import { AttemptContext } from "./attempt-context.ts";
import type { Registration } from "./registration.ts";
import { validate } from "./validate.ts";

export interface HandlerCallOwner {
  /** Called once, when the call has returned or was cut off and all its attempts have ended. */
  callEnded(delivery: HandlerCall): void;
  /** Called with an error of the worker itself. */
  internalError(error: unknown): void;
  /** Called with what the handler threw although all attempts of the call had ended. */
  threwLate(attempt: Attempt, thrown: unknown): void;
}

/**
 * One call of one handler, for one task or for a batch. It is over when the call has returned, or was cut off, and all
 * its attempts have ended; these may end sooner.
 */
export class HandlerCall {
  readonly attempts: readonly Attempt[];
  /** On the monotonic clock. */
  readonly startedAtMs: number;
  /** Attempts that have not ended. */
  #left: number;
  /** Whether the call has returned or was cut off. */
  #hasReturned = false;
  /** When it is told that its time is up, in epoch milliseconds. */
  expiresAtMs: number;
  /** When it is given up, once it was told. */
  cutOffAtMs = Number.POSITIVE_INFINITY;

  readonly #owner: HandlerCallOwner;

  constructor(
    owner: HandlerCallOwner,
    attempts: readonly Attempt[],
    startedAtMs: number,
    expiresAtMs: number,
  ) {
    this.#owner = owner;
    this.attempts = attempts;
    this.#left = attempts.length;
    this.startedAtMs = startedAtMs;
    this.expiresAtMs = expiresAtMs;
  }

  get hasReturned(): boolean {
    return this.#hasReturned;
  }

  /** One of its attempts has ended. */
  attemptEnded(): void {
    if (--this.#left === 0 && this.#hasReturned) this.#owner.callEnded(this);
  }

  #return(): void {
    if (this.#hasReturned) return;
    this.#hasReturned = true;
    if (this.#left === 0) this.#owner.callEnded(this);
  }

  get registration(): Registration {
    return this.attempts[0]!.member.registration;
  }

  /** Calls the handler. Never throws. */
  run(hooks: WorkerHooks): void {
    const { payload, result } = this.registration;
    if (payload !== null || result !== null || hooks.around !== undefined) {
      this.#runChecked(hooks).catch((error) => this.#owner.internalError(error));
      return;
    }
    // Nothing to wait for but the handler: one that returns at once costs no promise.
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

  /** For what nobody waits for: an error of the worker itself is the drain's. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#owner.internalError(error);
    }
  }

  expire(why: string, cutOffAtMs: number): void {
    this.expiresAtMs = Number.POSITIVE_INFINITY;
    this.cutOffAtMs = Math.min(this.cutOffAtMs, cutOffAtMs);
    for (const attempt of this.attempts) attempt.expire(why);
  }

  cutOff(): void {
    this.cutOffAtMs = Number.POSITIVE_INFINITY;
    for (const attempt of this.attempts) attempt.cutOff();
    this.#return();
  }

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
      // Else a task would succeed that nobody worked on.
      if (!hasRun) throw new InvalidArgument("around must call run, and return what it resolves to");
      const { result } = this.registration;
      if (result === null) return this.#complete(returned);
      this.#return();
      for (const attempt of this.attempts) {
        if (attempt.hasEnded) continue;
        try {
          attempt.complete(await validate(result, "result", attempt.task, this.#resultOf(attempt, returned)));
        } catch (error) {
          attempt.fail(error);
        }
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Of the attempts whose payload is valid; the others fail and are not delivered. */
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
    for (const attempt of this.attempts) {
      try {
        attempt.complete(this.#resultOf(attempt, returned));
      } catch (error) {
        attempt.fail(error); // results may be an object whose getters throw
      }
    }
  }

  #fail(error: unknown): void {
    const isLate = this.#left === 0;
    this.#return();
    for (const attempt of this.attempts) attempt.fail(error);
    if (isLate) this.#owner.threwLate(this.attempts[0]!, error);
  }

  #resultOf({ id }: Attempt, returned: unknown): unknown {
    if (this.registration.batch === null) return returned;
    if (returned instanceof Map) return returned.get(id);
    // Of which tasks they are is not known. What `Promise.all` makes of calls without a result is no loss.
    if (Array.isArray(returned) && returned.some((value) => (value ?? null) !== null)) {
      throw new TaskError(
        "a batch handler returns a Map or an object with results by task id, not an array",
        {
          code: "invalid_result",
          retryable: false,
        },
      );
    }
    return returned === null || typeof returned !== "object" || !Object.hasOwn(returned, id)
      ? null
      : (returned as Exclude<BatchResults, ReadonlyMap<string, unknown>>)[id];
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function";
}
