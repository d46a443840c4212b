import { type Backoff, backoffDelay, sleep } from "../backoff.ts";
import { monotonicMs, toMonotonicMs } from "../clock.ts";
import { DriverError, WadiError } from "../errors/errors.ts";
import type { ErrorClass, Executor, Row, Statement } from "../executor.ts";
import { type MigrateOptions, migrate } from "../migrations/migrate.ts";
import { explainVersion, isGuarded, otherVersion } from "../migrations/protocol-version.ts";
import { type Operation, single, type Target } from "../operation.ts";
import { bind } from "../statement.ts";
import { MAX_TIMER_MS } from "../validate.ts";
import { metered, type QueryMeter } from "./query-meter.ts";
import { abortable, RequestAbort } from "./request-abort.ts";

/** How often and for how long an operation is sent again after a transient or unknown failure. */
export interface RetryPolicy extends Backoff {
  /** Sends in all, the first included. From 1 to 1000. @default 6 */
  readonly tries: number;
  /** Longest pause before the second send in milliseconds; it doubles with each further one. Minimum `0`. @default 50 */
  readonly baseMs: number;
  /** Longest pause between two sends in milliseconds. Minimum `0`. @default 1000 */
  readonly capMs: number;
}

export interface CallOptions {
  /** Ends the call, and its retries, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * When the call ends at the latest, answered or not, in epoch milliseconds; `Infinity` waits for as long as it takes.
   * @default 30 seconds from now
   */
  readonly deadlineMs?: number | undefined;
  /** Counts every statement the call sends. */
  readonly meter?: QueryMeter | undefined;
  /** See `SendOptions`. */
  readonly openTransaction?: "wait" | "refuse" | undefined;
}

/** A call of application code, which may itself hold a transaction open: to wait for its end would be for ever. */
export function direct(call: CallOptions | undefined): CallOptions {
  return { ...call, openTransaction: "refuse" };
}

/** What ends a call, with the time on the monotonic clock. */
interface Within {
  readonly signal: AbortSignal | undefined;
  readonly endsAtMs: number;
}

const ADVICE: Record<ErrorClass, string> = {
  conflict: "the database refused it; its cause says why",
  busy: "the database stayed locked, overloaded or over its quota; try again later",
  unavailable:
    "the database could not be reached or takes no writes now; check that it runs and that the client points at its primary",
  denied:
    "the database does not accept this client; check its user, password or token, and that it may write",
  unusable: "the client cannot be used: it was closed, or made without a database; its cause says which",
  "missing-schema":
    "its tables are missing and could not be created; migrate with a role that may, and name a schema if the search path has none",
  "invalid-value": "the database refused a value; its cause says why",
  "response-too-large":
    "the answer is larger than the database or its client may send; ask for fewer or smaller tasks",
  rejected: "the database refused it; its cause says why",
  unknown:
    "the connection failed and the outcome is not known; check that the database can be reached, and send it again",
};

/** Why an operation fails that its deadline has ended. */
const LATE =
  "no answer came before its deadline, and the outcome is not known; send it again, or give it a later deadlineMs";

/** By executor: on an edge runtime every request has a session of its own. */
const ready = new WeakSet<Executor>();

/** Whether the same request may succeed later, or may even have succeeded. */
function isTransient(kind: ErrorClass, wasReached: boolean): boolean {
  if (kind === "denied") return wasReached; // a password that worked before is being changed
  return kind === "busy" || kind === "unavailable" || kind === "unknown";
}

/** How a database without branches says that a guard failed. */
function isRefused(kind: ErrorClass): boolean {
  return kind === "rejected" || kind === "invalid-value";
}

/** How long an operation lasts at most where the caller does not say: a database may never answer. */
const OPERATION_MS = 30_000;
/** The same for a migration, which may build indexes. */
const MIGRATION_MS = 600_000;

/** Whether the caller of an operation does not wait for it any more. */
export function isOver({ signal, deadlineMs }: CallOptions): boolean {
  return (signal?.aborted ?? false) || (deadlineMs !== undefined && Date.now() >= deadlineMs);
}

function withinOf({ signal, deadlineMs }: CallOptions, defaultMs: number): Within {
  const endsAtMs = deadlineMs === undefined ? monotonicMs() + defaultMs : toMonotonicMs(deadlineMs);
  return { signal, endsAtMs };
}

/** Turns of the microtask queue in which an engine in this process answers, so that no timer is set for it. */
const LOCAL_TURNS = 16;

/** Sends operations through one executor: applies missing migrations and sends again what may be sent again. */
export class Session {
  readonly executor: Executor;
  readonly #retry: RetryPolicy;
  readonly #clock: (() => number) | undefined;
  #verified = false;
  #migrating: { readonly done: Promise<void>; readonly abort: RequestAbort; waiting: number } | undefined;

  constructor(executor: Executor, retry: RetryPolicy, clock: (() => number) | undefined) {
    this.executor = executor;
    this.#retry = retry;
    this.#clock = clock;
  }

  get target(): Target {
    const { dialect, protocol } = this.executor;
    return { dialect, protocol, nowMs: this.#clock === undefined ? null : this.#clock() };
  }

  async execute<T>(operation: Operation<T>, call: CallOptions = {}): Promise<T> {
    let current = operation;
    let migrated = false;
    const within = withinOf(call, OPERATION_MS); // on the monotonic clock: the machine's may be set meanwhile
    for (let tries = 1; ; tries++) {
      call.signal?.throwIfAborted();
      let results: readonly Row[][];
      try {
        const abort = new RequestAbort(current.mayBeLost, call.openTransaction);
        results = await this.#within(operation.name, this.#send(current, abort, call.meter), within, abort);
      } catch (error) {
        call.signal?.throwIfAborted();
        if (WadiError.is(error)) throw error;
        const answer = otherVersion(error) ?? current.explain?.(error);
        if (answer !== undefined) throw answer;
        const kind = this.executor.classify(error);
        if (kind === "missing-schema" && !migrated) {
          migrated = true;
          await this.#migrateOnce((done) => this.#within(operation.name, done, within), call.meter);
          continue;
        }
        if (isRefused(kind) && !this.#verified) {
          const abort = new RequestAbort();
          const explained = explainVersion(abortable(metered(this.executor, call.meter), abort));
          await this.#within(operation.name, explained, within, abort).catch((reason: unknown) => {
            // What was refused for another reason, such as a wrong password, is refused here too.
            if (WadiError.is(reason)) throw reason;
          });
        }
        const delay = backoffDelay(this.#retry, tries);
        const isLate = monotonicMs() + delay >= within.endsAtMs;
        if (isLate || tries >= this.#retry.tries || !isTransient(kind, this.#verified)) {
          throw this.wrap(operation.name, kind, error);
        }
        if (kind === "unknown") current = operation.resend?.() ?? operation;
        await sleep(delay, call.signal);
        continue;
      }
      return current.decode(results);
    }
  }

  /** The answer, unless the caller's signal or deadline comes first: a database may never answer. */
  async #within<T>(
    name: string,
    answer: Promise<T>,
    { signal, endsAtMs }: Within,
    abort?: RequestAbort,
  ): Promise<T> {
    let isAnswered = false;
    const over = () => {
      isAnswered = true;
    };
    const answered = answer.then(over, over);
    for (let turn = 0; turn < LOCAL_TURNS && !isAnswered; turn++) await null;
    if (isAnswered) return answer;
    const leftMs = Math.max(0, endsAtMs - monotonicMs());
    try {
      await sleep(Math.min(leftMs, MAX_TIMER_MS), signal, answered);
      if (!isAnswered) throw this.wrap(name, "unknown", new Error("no answer came in time"), LATE);
    } catch (error) {
      abort?.abort(error);
      throw error;
    }
    return answer;
  }

  /** The answer to something that is made of several operations, unless the caller's signal or deadline comes first. */
  within<T>(name: string, answer: Promise<T>, call: CallOptions): Promise<T> {
    return this.#within(name, answer, withinOf(call, Number.POSITIVE_INFINITY));
  }

  /** Makes sure, once for each executor, that nothing is missing: for what is sent by others, who cannot migrate. */
  async ready(): Promise<void> {
    if (ready.has(this.executor)) return;
    const select = bind(this.executor, "select_migrations", {});
    const applied = await this.execute(single("migrate", select, (rows) => rows.map((row) => row.name)));
    if (!this.executor.protocol.migrations.every(({ name }) => applied.includes(name))) await this.migrate();
    ready.add(this.executor);
  }

  /** Applies the migrations that are missing. Calls in flight share one run. */
  migrate(options?: MigrateOptions, call: CallOptions = {}): Promise<void> {
    const within = withinOf(call, MIGRATION_MS);
    if (options === undefined) return this.#migrateOnce((done) => this.#within("migrate", done, within));
    // Another run may not do what was asked.
    const abort = new RequestAbort();
    return this.#within("migrate", this.#applyMigrations(abort, options), within, abort);
  }

  /** Waits as `wait` does. The run ends with the last that waits for it: its connection may be half-open. */
  async #migrateOnce(wait: (done: Promise<void>) => Promise<void>, meter?: QueryMeter): Promise<void> {
    let run = this.#migrating;
    if (run === undefined) {
      const abort = new RequestAbort();
      const done = this.#applyMigrations(abort, undefined, meter);
      run = { done, abort, waiting: 0 };
      this.#migrating = run;
    }
    run.waiting++;
    try {
      await wait(run.done);
    } finally {
      if (--run.waiting === 0) {
        if (this.#migrating === run) this.#migrating = undefined;
        run.abort.abort(new Error("no answer came in time"));
      }
    }
  }

  async #applyMigrations(abort: RequestAbort, options?: MigrateOptions, meter?: QueryMeter): Promise<void> {
    try {
      await migrate(abortable(metered(this.executor, meter), abort), options);
    } catch (error) {
      throw WadiError.is(error) ? error : this.wrap("migrate", this.executor.classify(error), error);
    }
  }

  /** What writes carries a guard that makes a database of a newer protocol refuse it, and so does a session's first request. */
  async #send(
    { statements, send, sendsMore = 0 }: Operation<unknown>,
    options: RequestAbort,
    meter?: QueryMeter,
  ): Promise<readonly Row[][]> {
    const { executor } = this;
    const guard = this.guard(statements);
    const guarded = [...guard, ...statements];
    meter?.count(guarded.length + sendsMore);
    if (guarded.length === 1 && this.#verified && !send) return [await executor.run(guarded[0]!, options)];
    const results = await (send === undefined
      ? executor.batch(guarded, options)
      : send(executor, guarded, options));
    this.#verified = true;
    return guard.length === 0 ? results : results.slice(1);
  }

  /** What has to go before these statements if the session has sent none, and no guard is within them. */
  guard(statements: readonly Statement[]): Statement[] {
    return this.#verified || statements.some(isGuarded) ? [] : [bind(this.executor, "guard_version", {})];
  }

  /** The error a caller gets for one of the database or its client. */
  wrap(operation: string, kind: ErrorClass, cause: unknown, advice = ADVICE[kind]): DriverError {
    return new DriverError(`${operation} failed on ${this.executor.name}: ${advice}`, {
      cause,
      kind,
      retryable: isTransient(kind, this.#verified),
    });
  }
}
