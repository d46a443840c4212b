import { InvalidArgument } from "../core/errors/errors.ts";
import { bind } from "../core/operations/statement.ts";
import type { AnyTaskDefinition } from "../producer/define-task.ts";
import { internalsOf, type WadiInternals } from "../producer/internals.ts";
import type { Wadi } from "../producer/wadi.ts";
import { ClaimMemory } from "./drain/claim-memory.ts";
import { Drain } from "./drain/drain.ts";
import type { ContinuousMode, DrainSettings } from "./drain/drain-settings.ts";
import { SettleMargin } from "./drain/settle-margin.ts";
import { UnreturnedCalls } from "./drain/unreturned-calls.ts";
import { DrainHint } from "./drain-hint.ts";
import { continuousDrain, type DrainOptions, type DrainSetup, shortDrain, usesHint } from "./drain-setup.ts";
import type { DrainSummary } from "./drain-summary.ts";
import { type HandlerOptions, register } from "./handler/registration.ts";
import { Registrations } from "./handler/registrations.ts";
import { report, type WorkerHooks } from "./hooks.ts";
import { checkWorkerOptions, type WorkerOptions, type WorkerSettings } from "./options.ts";
import { registerRunning } from "./run/duplicate-workers.ts";
import { Lifecycle, type RunOptions, type ServeOptions, type StopOptions } from "./run/lifecycle.ts";
import { Runner } from "./run/runner.ts";
import { statsOf, type WorkerStats } from "./run/stats.ts";
import { sweepAfterDrain } from "./run/sweep-after-drain.ts";
import type { BatchHandler, BatchHandlerOf, Handler, HandlerOf } from "./task-context.ts";

/**
 * Runs tasks: it has a handler for each task name, and claims, runs and settles due tasks in a short invocation
 * (`drain`) or until it is stopped (`run`, `serve`, `background`).
 *
 * @example
 * ```ts
 * import { Worker } from "wadi";
 *
 * const worker = new Worker(wadi, { concurrency: 5 });
 * worker.task(resize, async ({ payload, signal }) => ({ bytes: await resizeImage(payload.url, signal) }));
 * const summary = await worker.drain({ budgetMs: 25_000 });
 * ```
 */
export class Worker {
  /** The `Wadi` whose tasks it runs. */
  readonly wadi: Wadi;
  readonly #internals: WadiInternals;
  readonly #settings: WorkerSettings;
  readonly #handlers = new Registrations();
  readonly #hints = new ClaimMemory();
  readonly #unreturned = new UnreturnedCalls();
  readonly #margin = new SettleMargin();
  readonly #lifecycle = new Lifecycle(
    () => this.#newRunner(),
    (stop) => this.#registerRunning(stop),
  );

  /** @throws {InvalidArgument} if an option is out of range. */
  constructor(wadi: Wadi, options: WorkerOptions = {}) {
    this.#internals = internalsOf(wadi, "new Worker");
    this.wadi = wadi;
    this.#settings = checkWorkerOptions(options);
  }

  /**
   * Registers the handler of a task name. With `batch` the handler gets a list of contexts.
   *
   * @throws {InvalidArgument} if an option is out of range, or the name has a handler in this queue already,
   *   or the worker runs.
   * @example
   * ```ts
   * worker.task(resize, async ({ payload, signal }) => ({ bytes: await resizeImage(payload.url, signal) }));
   * worker.task("mail", (contexts) => sendMail(`${contexts.length} recipients`), { batch: 100 });
   * ```
   */
  task<T extends string | AnyTaskDefinition>(
    task: T,
    handler: BatchHandlerOf<T>,
    options: HandlerOptions & { readonly batch: number },
  ): this;
  task<T extends string | AnyTaskDefinition>(
    task: T,
    handler: HandlerOf<T>,
    options?: HandlerOptions & { readonly batch?: undefined },
  ): this;
  task(
    task: string | AnyTaskDefinition,
    handler: Handler<never, unknown> | BatchHandler<never, unknown>,
    options: HandlerOptions = {},
  ): this {
    const registration = register(task, handler, options, this.#settings);
    if (this.#lifecycle.isRunning)
      throw new InvalidArgument(
        `this worker is already running; register the handler of "${registration.name}" before run() or serve()`,
      );
    this.#handlers.add(registration);
    return this;
  }

  /**
   * One short invocation: claims due tasks, runs them, settles them, and returns when no task is due or the time is
   * up. It waits up to `lingerMs` for retries of tasks that failed in it, and for no other task that is due later:
   * the summary's `nextDueAtMs` says when one is. A settlement and the next claim share a round trip; an empty drain
   * is one round trip, and none if the `hint` of the `Wadi` says that nothing is due.
   *
   * @throws {InvalidArgument} if an option is out of range, or no handler is registered or fits the time.
   * @throws {DriverError} if the database stays unavailable; the tasks it holds run again after their leases expire.
   * @example
   * ```ts
   * const summary = await worker.drain({ budgetMs: 25_000 });
   * if (summary.more) console.log("tasks are still due");
   * ```
   */
  async drain(options: DrainOptions = {}): Promise<DrainSummary> {
    const setup = shortDrain(options, this.#handlers, this.#settings, this.wadi.executor, this.#margin);
    const hint = DrainHint.of({ ...this.#settings, wadi: this.#internals, ...setup });
    if (usesHint(options)) {
      const skipped = (await hint?.skip()) ?? null;
      if (skipped !== null) return skipped;
    } else void hint?.doubt();
    const drain = this.#newDrain(setup);
    const summary = await this.#finish(drain, await drain.run());
    await hint?.drained(drain.nextDue);
    return summary.more || setup.signal?.aborted ? summary : this.#sweep(drain, summary, setup.deadlineMs);
  }

  /**
   * Works until it is stopped, inside a process of the application: claims tasks as they become due, renews leases,
   * goes on after a database outage (reported to `onError`), and sweeps by `retention`. Resolves after a stop, with a
   * summary.
   *
   * @throws {InvalidArgument} if an option is out of range, no handler is registered, the worker is already running, or
   *   another worker of this process runs the same tasks; another worker of the same `name` is stopped and replaced
   *   instead.
   * @throws {DriverError} if the database refuses the very first round trip for a reason that another try cannot
   * change.
   * @example
   * ```ts
   * const stop = new AbortController();
   * const running = worker.run({ signal: stop.signal });
   * stop.abort();
   * const summary = await running;
   * ```
   */
  run(options?: RunOptions): Promise<DrainSummary> {
    return this.#lifecycle.run(options);
  }

  /**
   * `run` for a process that is only a worker. SIGINT or SIGTERM stop it; a second one ends the process at once, with
   * exit code 130 or 143. The signals have their usual effect again once it has stopped.
   *
   * @throws {Unsupported} on a platform whose process gets no signals.
   * @example
   * ```ts
   * await worker.serve({ graceMs: 20_000 });
   * ```
   */
  serve(options?: ServeOptions): Promise<DrainSummary> {
    return this.#lifecycle.serve(options);
  }

  /**
   * Runs while `fn` does, then stops, and returns the result of `fn`. An error of `fn` goes before one of the worker.
   *
   * @example
   * ```ts
   * const total = await worker.background(() => wadi.call("sum", [1, 2, 3]));
   * ```
   */
  background<T>(fn: () => T | Promise<T>, options?: RunOptions): Promise<T> {
    return this.#lifecycle.background(fn, options);
  }

  /**
   * Stops a run: it claims no more tasks, releases those that have not started without spending an attempt, and lets
   * handlers go on for `graceMs`. Resolves when the run has ended, at once if there is none. May be called more than
   * once; the first `graceMs` counts.
   *
   * @example
   * ```ts
   * await worker.stop({ graceMs: 5_000 });
   * ```
   */
  stop(options?: StopOptions): Promise<void> {
    return this.#lifecycle.stop(options);
  }

  /**
   * The state and the counts of the worker's present or last run. No round trip.
   *
   * @example
   * ```ts
   * const { state, running, totals } = worker.stats();
   * ```
   */
  stats(): WorkerStats {
    const idle = () => this.#newContinuousDrain(null, this.#settings.hooks).status;
    return this.#lifecycle.stats ?? statsOf("stopped", idle(), this.#internals, null);
  }

  #registerRunning(stop: () => void): () => void {
    const { executor } = this.wadi;
    const { sql } = bind(executor, "select_version", {}); // differs between the schemas of a database
    const lanes = this.#handlers.lanes.map((lane) => `${lane}\0${sql}`);
    return registerRunning(executor.database ?? executor, { name: this.#settings.givenName, lanes, stop });
  }

  #newRunner(): Runner {
    this.#handlers.required("run");
    const newDrain = (continuous: ContinuousMode, hooks: WorkerHooks) =>
      this.#newContinuousDrain(continuous, hooks);
    return new Runner({ ...this.#settings, wadi: this.#internals, newDrain });
  }

  #newContinuousDrain(continuous: ContinuousMode | null, hooks: WorkerHooks): Drain {
    return this.#newDrain({
      ...continuousDrain(continuous, this.#handlers, this.#settings, this.#margin),
      hooks,
    });
  }

  #newDrain(setup: DrainSetup & Partial<Pick<DrainSettings, "hooks">>): Drain {
    const shared = { wadi: this.#internals, hints: this.#hints, unreturned: this.#unreturned };
    return new Drain({ ...this.#settings, ...shared, ...setup });
  }

  /** Kicks the next drain, if there is one to kick. */
  async #finish(drain: Drain, summary: DrainSummary): Promise<DrainSummary> {
    const roundTrips = await drain.wakes.finish(summary);
    if (roundTrips === 0) return summary;
    return { ...summary, roundTrips: summary.roundTrips + roundTrips, queries: drain.queries.meter.sent };
  }

  /** Applies the retention rules once, if a short drain has time and statements left for it. */
  async #sweep(drain: Drain, summary: DrainSummary, deadlineMs: number): Promise<DrainSummary> {
    const wadi = this.#internals;
    const { retention, hooks } = this.#settings;
    const { left, meter } = drain.queries;
    if (left <= retention.length) return summary;
    const reportError = (error: unknown) => report(hooks, error, "sweep");
    const hasSwept = await sweepAfterDrain({ wadi, retention, meter, report: reportError }, deadlineMs);
    return hasSwept ? { ...summary, roundTrips: summary.roundTrips + 1, queries: meter.sent } : summary;
  }
}
