import { MAX_DELAY_MS } from "../core/arguments.ts";
import { type Backoff, backoffDelay } from "../core/backoff.ts";
import { envelope, envelopeOf } from "../core/envelope.ts";
import { LostLease, TaskCanceled, TaskError, WadiError } from "../core/errors.ts";
import { encodeJson } from "../core/json.ts";
import type { Held, Renewed } from "../core/operations/lease.ts";
import type { Outcome, Settlement } from "../core/operations/settle.ts";
import { invalid } from "../core/standard-schema.ts";
import type { Task } from "../core/task.ts";
import type { Wadi } from "../core/wadi.ts";
import type { TaskContext } from "./context.ts";
import type { Registration } from "./registration.ts";

/** One run of one handler on one claimed task. Ends exactly once; whatever comes later is ignored. */
export interface Attempt {
  readonly held: Held;
  /** Local estimate of when the lease runs out, in epoch milliseconds. */
  leaseEndsAtMs: number;
  /** Runs the handler. Never rejects. */
  run(): Promise<void>;
  /** Stops the handler: aborts its signal and, after a grace time, counts the attempt as timed out. */
  expire(why: string): void;
  /**
   * Takes in what the database said of the lease: lost, or held, perhaps with a requested cancel. The settlement
   * will turn into a cancel by itself.
   */
  learn(renewed: Renewed | null | undefined, leaseEndsAtMs: number): void;
  /** The task belongs to somebody else now: nothing of this attempt may be written any more. */
  lose(): void;
}

export interface AttemptOptions {
  readonly wadi: Wadi;
  readonly backoff: Backoff;
  readonly leaseMs: number;
  /** Epoch milliseconds at which the invocation stops its handlers. */
  readonly stopAtMs: number;
  /** How long an aborted handler may take to come back before it is cut off, in milliseconds. */
  readonly graceMs: number;
  /** Called once. Without a settlement the lease is lost and there is nothing to settle. */
  readonly onEnd: (attempt: Attempt, settlement: Settlement | null) => void;
}

export function newAttempt(
  task: Task,
  registration: Registration,
  leaseEndsAtMs: number,
  { wadi, backoff, leaseMs, stopAtMs, graceMs, onEnd }: AttemptOptions,
): Attempt {
  const { store, executor } = wadi;
  const { maxRunMs } = registration;
  const held = { id: task.id, workerId: task.workerId! };
  const abort = new AbortController();
  const { signal } = abort;
  const timers: ReturnType<typeof setTimeout>[] = [];
  const startedAtMs = Date.now();
  const ceilingMs = startedAtMs + (maxRunMs ?? Number.POSITIVE_INFINITY);
  const deadlineMs = Math.min(ceilingMs, stopAtMs);
  const delay = () => backoffDelay(backoff, task.attempt);
  let canceled = false;
  let ended = false;
  /** How the attempt ends once its time is up. */
  let timeout: Outcome | null = null;

  function end(outcome: Outcome | null): void {
    if (ended) return;
    ended = true;
    for (const timer of timers) clearTimeout(timer);
    registration.runs.add(Date.now() - startedAtMs);
    onEnd(attempt, outcome && { ...held, attempt: task.attempt, ...outcome });
  }

  async function validate(what: "payload" | "result", value: unknown): Promise<unknown> {
    const checked = await registration[what]?.["~standard"].validate(value);
    if (checked === undefined) return value;
    if (checked.issues === undefined) return checked.value;
    throw new TaskError(invalid(what, task.name, checked.issues), {
      code: `invalid_${what}`,
      retryable: false,
    });
  }

  function completed(result: unknown): Outcome {
    try {
      const resultJson = encodeJson(
        result === undefined ? null : result,
        `the result of ${task.name}`,
        executor,
      );
      return { outcome: "complete", resultJson };
    } catch (error) {
      if (!WadiError.is(error)) throw error;
      return { outcome: "fail", error: envelope(error.name, "unserializable_result", error.message, false) };
    }
  }

  function failed(thrown: unknown): Outcome {
    if (timeout !== null) return timeout;
    const error = envelopeOf(thrown, executor);
    if (!error.retryable) return { outcome: "fail", error };
    let delayMs = delay();
    try {
      // Of whatever was thrown: it may have no such field, one of another type, or one that throws.
      const askedMs = Math.min(Math.max(0, Math.round((thrown as TaskError).delayMs!)), MAX_DELAY_MS);
      if (askedMs >= 0) delayMs = askedMs;
    } catch {}
    return { outcome: "retry", error, delayMs };
  }

  function mustOwn(): void {
    if (signal.reason instanceof LostLease) throw signal.reason;
  }

  const context = (payload: unknown): TaskContext => ({
    payload,
    task,
    id: task.id,
    attempt: task.attempt,
    signal,
    deadlineMs,
    timeLeftMs: () => Math.max(0, deadlineMs - Date.now()),
    get canceled() {
      return canceled;
    },
    async progress(value, message) {
      mustOwn();
      const progress = Number.isFinite(value) ? Math.min(1, Math.max(0, value!)) : null;
      const text = message?.replaceAll("\0", "").toWellFormed() ?? null;
      attempt.learn(await store.progress(held, { progress, message: text }), attempt.leaseEndsAtMs);
      mustOwn();
    },
    async heartbeat() {
      mustOwn();
      const sentAtMs = Date.now();
      attempt.learn((await store.heartbeat([held], leaseMs))[0], sentAtMs + leaseMs);
      mustOwn();
      return { canceled };
    },
    succeed(result) {
      end(completed(result));
      return result;
    },
    fail: (error) => end(failed(error)),
    async submit(child: Parameters<Wadi["submitFrom"]>[1], childPayload: unknown, options?: object) {
      mustOwn();
      const lineage = {
        parentId: task.id,
        rootId: task.rootId ?? task.id,
        correlationId: task.correlationId,
        held,
      };
      return wadi.submitFrom(lineage, child, childPayload, options) as never;
    },
  });

  const attempt: Attempt = {
    held,
    leaseEndsAtMs,
    async run() {
      if (ceilingMs <= stopAtMs) {
        timers.push(
          setTimeout(() => attempt.expire(`ran longer than its maxRunMs of ${maxRunMs} ms`), maxRunMs!),
        );
      }
      try {
        const result = await registration.handler(context(await validate("payload", task.payload)));
        end(completed(await validate("result", result)));
      } catch (error) {
        end(failed(error));
      }
    },
    expire(why) {
      if (ended || timeout !== null) return;
      const message = `the handler ${why}`;
      const error = envelope("HandlerTimeout", "handler_timeout", message, true);
      timeout = { outcome: "retry", error, delayMs: delay() };
      abort.abort(new TaskError(message, { code: "handler_timeout" }));
      timers.push(setTimeout(() => end(timeout), graceMs));
    },
    learn(renewed, endsAtMs) {
      if (!renewed) attempt.lose();
      attempt.leaseEndsAtMs = endsAtMs;
      if (!renewed?.cancelRequested || canceled || ended) return;
      canceled = true;
      abort.abort(new TaskCanceled(task));
    },
    lose() {
      abort.abort(new LostLease(task.id));
      end(null);
    },
  };
  return attempt;
}
