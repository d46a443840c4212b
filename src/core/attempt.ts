import { MAX_DELAY_MS } from "./arguments.ts";
import { type Backoff, backoffDelay } from "./backoff.ts";
import type { TaskContext } from "./context.ts";
import { envelope, envelopeOf } from "./envelope.ts";
import { InvalidArgument, LostLease, TaskCanceled, TaskError, WadiError } from "./errors.ts";
import { encodeJson } from "./json.ts";
import type { Held } from "./operations/lease.ts";
import type { Outcome, Settlement } from "./operations/settle.ts";
import type { Registration } from "./registration.ts";
import { describeIssues } from "./standard-schema.ts";
import type { Task } from "./task.ts";
import type { Wadi } from "./wadi.ts";

export interface AttemptEnd {
  readonly attempt: Attempt;
  /** Null: the lease is lost and there is nothing to settle. */
  readonly settlement: Settlement | null;
}

export interface AttemptOptions {
  readonly wadi: Wadi;
  readonly backoff: Backoff;
  readonly leaseMs: number;
  /** Epoch milliseconds at which the invocation stops its handlers. */
  readonly stopAtMs: number;
  /** How long an aborted handler may take to come back before it is cut off, in milliseconds. */
  readonly graceMs: number;
  readonly onEnd: (end: AttemptEnd) => void;
}

/** One run of one handler on one claimed task. Ends exactly once; whatever comes later is ignored. */
export class Attempt {
  readonly task: Task;
  readonly held: Held;
  /** Local estimate of when the lease runs out, in epoch milliseconds. */
  leaseEndsAtMs: number;
  readonly #registration: Registration;
  readonly #options: AttemptOptions;
  readonly #abort = new AbortController();
  readonly #startedAtMs = Date.now();
  readonly #deadlineMs: number;
  readonly #timers: ReturnType<typeof setTimeout>[] = [];
  #canceled = false;
  #expired = false;
  #ended = false;

  constructor(task: Task, registration: Registration, leaseEndsAtMs: number, options: AttemptOptions) {
    this.task = task;
    this.held = { id: task.id, workerId: task.workerId! };
    this.leaseEndsAtMs = leaseEndsAtMs;
    this.#registration = registration;
    this.#options = options;
    const { maxRunMs } = registration;
    const ceilingMs = this.#startedAtMs + (maxRunMs ?? Number.POSITIVE_INFINITY);
    this.#deadlineMs = Math.min(ceilingMs, options.stopAtMs);
    if (ceilingMs <= options.stopAtMs) {
      this.#timers.push(
        setTimeout(() => this.expire(`ran longer than its maxRunMs of ${maxRunMs} ms`), maxRunMs!),
      );
    }
  }

  /** Runs the handler. Never rejects. */
  async run(): Promise<void> {
    try {
      const payload = await this.#validate("payload", this.task.payload);
      const result = await this.#registration.handler(this.#context(payload));
      this.#end(this.#complete(await this.#validate("result", result)));
    } catch (error) {
      this.#end(this.#failure(error));
    }
  }

  /** Stops the handler: aborts its signal and, after a grace time, counts the attempt as timed out. */
  expire(why: string): void {
    if (this.#ended || this.#expired) return;
    this.#expired = true;
    this.#abort.abort(new TaskError(`the handler ${why}`, { code: "handler_timeout" }));
    this.#timers.push(setTimeout(() => this.#end(this.#timeout()), this.#options.graceMs));
  }

  /** Tells the handler that a cancel was requested. The settlement will turn into a cancel by itself. */
  cancel(): void {
    if (this.#canceled || this.#ended) return;
    this.#canceled = true;
    this.#abort.abort(new TaskCanceled(this.task));
  }

  /** The task belongs to somebody else now: nothing of this attempt may be written any more. */
  lose(): LostLease {
    const lost = new LostLease(this.task.id);
    this.#abort.abort(lost);
    this.#end(null);
    return lost;
  }

  async #validate(what: "payload" | "result", value: unknown): Promise<unknown> {
    const checked = await this.#registration[what]?.["~standard"].validate(value);
    if (checked === undefined) return value;
    if (checked.issues === undefined) return checked.value;
    throw new TaskError(`the ${what} of ${this.task.name} is invalid: ${describeIssues(checked.issues)}`, {
      code: `invalid_${what}`,
      retryable: false,
    });
  }

  #complete(result: unknown): Outcome {
    const what = `the result of ${this.task.name}`;
    try {
      const resultJson = encodeJson(result === undefined ? null : result, what, this.#options.wadi.executor);
      return { outcome: "complete", resultJson };
    } catch (error) {
      if (!WadiError.is(error)) throw error;
      return { outcome: "fail", error: envelope(error.name, "unserializable_result", error.message, false) };
    }
  }

  #failure(error: unknown): Outcome {
    if (this.#expired) return this.#timeout();
    const stored = envelopeOf(error, this.#options.wadi.executor);
    if (!stored.retryable) return { outcome: "fail", error: stored };
    const asked = (error as TaskError | null)?.delayMs as number; // not always what its type says
    const askedMs = Math.min(Math.max(0, Math.round(asked)), MAX_DELAY_MS);
    return { outcome: "retry", error: stored, delayMs: askedMs >= 0 ? askedMs : this.#backoff() };
  }

  #timeout(): Outcome {
    const { message } = this.#abort.signal.reason as Error;
    return {
      outcome: "retry",
      error: envelope("HandlerTimeout", "handler_timeout", message, true),
      delayMs: this.#backoff(),
    };
  }

  #backoff(): number {
    return backoffDelay(this.#options.backoff, this.task.attempt);
  }

  #end(outcome: Outcome | null): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#registration.runs.add(Date.now() - this.#startedAtMs);
    const settlement = outcome === null ? null : { ...this.held, attempt: this.task.attempt, ...outcome };
    this.#options.onEnd({ attempt: this, settlement });
  }

  #mustOwn(): void {
    if (this.#abort.signal.reason instanceof LostLease) throw this.#abort.signal.reason;
  }

  #context(payload: unknown): TaskContext {
    const { task, held } = this;
    const { wadi, leaseMs } = this.#options;
    const isCanceled = () => this.#canceled;
    return {
      payload,
      task,
      id: task.id,
      attempt: task.attempt,
      signal: this.#abort.signal,
      deadlineMs: this.#deadlineMs,
      timeLeftMs: () => Math.max(0, this.#deadlineMs - Date.now()),
      get canceled() {
        return isCanceled();
      },
      progress: async (value, message) => {
        if (value !== null && !(value >= 0 && value <= 1)) {
          throw new InvalidArgument(`progress must be a number from 0 to 1 or null, got ${value}`);
        }
        this.#mustOwn();
        const report = { progress: value, message: message?.replaceAll("\0", "").toWellFormed() ?? null };
        const renewed = await wadi.store.progress(held, report);
        if (renewed === null) throw this.lose();
        if (renewed.cancelRequested) this.cancel();
      },
      heartbeat: async () => {
        this.#mustOwn();
        const sentAtMs = Date.now();
        const [renewed] = await wadi.store.heartbeat([held], leaseMs);
        if (renewed === undefined) throw this.lose();
        this.leaseEndsAtMs = sentAtMs + leaseMs;
        if (renewed.cancelRequested) this.cancel();
        return { canceled: this.#canceled };
      },
      succeed: (result) => this.#end(this.#complete(result)),
      fail: (error) => this.#end(this.#failure(error)),
      submit: async (child: Parameters<Wadi["submitFrom"]>[1], childPayload: unknown, options?: object) => {
        this.#mustOwn();
        const lineage = {
          parentId: task.id,
          rootId: task.rootId ?? task.id,
          correlationId: task.correlationId,
        };
        return wadi.submitFrom(lineage, child, childPayload, options) as never;
      },
    };
  }
}
