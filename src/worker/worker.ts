import { monotonicMs } from "../core/clock.ts";
import { InvalidArgument } from "../core/errors/errors.ts";
import { bind } from "../core/operations/statement.ts";
import { MAX_TIMER_MS } from "../core/timers.ts";
import { integer, onlyKnown, optionalSignal } from "../core/validate.ts";
import type { AnyTaskDefinition } from "../producer/define-task.ts";
import type { Wadi } from "../producer/wadi.ts";
import { ClaimHints } from "./drain/claim-hints.ts";
import { Drain } from "./drain/drain.ts";
import type { ContinuousMode, DrainSettings } from "./drain/drain-options.ts";
import { UnreturnedCalls } from "./drain/unreturned-calls.ts";
import type { DrainSummary } from "./drain-summary.ts";
import { type HandlerOptions, laneKey, type Registration, register } from "./handler/registration.ts";
import { report, type WorkerHooks } from "./hooks.ts";
import {
  checkWorker,
  type DrainOptions,
  deadlineOf,
  maxQueriesOf,
  type Settings,
  type WorkerOptions,
} from "./options.ts";
import { Lifecycle, type RunOptions, type ServeOptions, type StopOptions } from "./run/lifecycle.ts";
import { sweepAfterDrain } from "./run/maintenance.ts";
import { Runner } from "./run/runner.ts";
import { enterRunning } from "./run/running-workers.ts";
import { statsOf, type WorkerStats } from "./run/stats.ts";
import type { BatchHandler, BatchHandlerOf, Handler, HandlerOf } from "./task-context.ts";

/** A lease outlasts its invocation by this, so that the last settlement is still the owner's. */
const LEASE_MARGIN_MS = 5_000;
/** Time kept to settle what was stopped. */
const RESERVE_MS = 1000;
const LINGER_MS = 2000;

/** The consumer's side: handlers by name, and the drain that runs them within one short invocation. */
export class Worker {
  readonly wadi: Wadi;
  readonly #settings: Settings;
  readonly #registrations: Registration[] = [];
  readonly #lanes = new Set<string>();
  readonly #hints = new ClaimHints();
  readonly #unreturned = new UnreturnedCalls();
  readonly #stay = new Lifecycle(
    () => this.#newHost(),
    (stop) => this.#enterRunning(stop),
  );

  /** @throws {InvalidArgument} if an option is out of range. */
  constructor(wadi: Wadi, options: WorkerOptions = {}) {
    if (wadi?.store === undefined)
      throw new InvalidArgument("new Worker takes a Wadi, such as new Wadi(betterSqlite3(db))");
    this.wadi = wadi;
    this.#settings = checkWorker(options);
  }

  /**
   * Registers the handler of a task name. With a `batch` it gets a list of contexts.
   *
   * @throws {InvalidArgument} if an option is out of range, or the name has a handler in this queue already,
   *   or the worker runs.
   * @example worker.task(resize, async ({ payload, signal }) => ({ bytes: await resizeImage(payload.url, signal) }));
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
    const { name, queues } = registration;
    if (this.#stay.isOn)
      throw new InvalidArgument(
        `this worker runs already; register the handler of "${name}" before run() or serve()`,
      );
    for (const queue of queues) {
      if (this.#lanes.has(laneKey({ queue, name }))) {
        throw new InvalidArgument(
          `"${name}" has a handler in the queue "${queue}" already; register it once, or in another queue`,
        );
      }
    }
    for (const queue of queues) this.#lanes.add(laneKey({ queue, name }));
    this.#registrations.push(registration);
    return this;
  }

  /**
   * One invocation: claims due tasks, runs them, settles them, and returns when nothing is due or the time is up. Of what
   * becomes due later it waits only for retries of its own, for `lingerMs`; `nextDueAtMs` says when the rest is due.
   * Settling and the next claim share a round trip; an empty drain is one round trip.
   *
   * @throws {InvalidArgument} if an option is out of range, or no handler is registered or fits the time.
   * @throws {DriverError} if the database stays out of reach; tasks that are held come back when their leases expire.
   */
  async drain(options: DrainOptions = {}): Promise<DrainSummary> {
    onlyKnown("drain", options, ["budgetMs", "deadline", "signal", "maxTasks", "maxQueries", "lingerMs"]);
    const handlers = this.#handlers("drain");
    const nowMs = monotonicMs();
    const deadlineMs = deadlineOf(options, nowMs);
    const budgetMs = Math.max(0, deadlineMs - nowMs);
    const reserveMs = Math.min(RESERVE_MS, budgetMs / 10);
    const registrations = handlers.filter(
      ({ maxRunMs }) => maxRunMs === null || maxRunMs <= budgetMs - reserveMs,
    );
    if (registrations.length === 0) {
      throw new InvalidArgument(
        `no handler's maxRunMs fits a drain of ${budgetMs} ms; raise budgetMs or lower maxRunMs`,
      );
    }
    const drain = this.#newDrain({
      registrations,
      skipped: handlers.filter((handler) => !registrations.includes(handler)).map(({ name }) => name),
      leaseMs: Math.min(this.#settings.leaseMs, budgetMs + LEASE_MARGIN_MS),
      deadlineMs,
      reserveMs,
      maxTasks:
        options.maxTasks === undefined ? Number.MAX_SAFE_INTEGER : integer("maxTasks", options.maxTasks, 1),
      maxQueries: maxQueriesOf(options, this.wadi.executor),
      signal: optionalSignal(options.signal),
      lingerMs: integer("lingerMs", options.lingerMs ?? LINGER_MS, 0, MAX_TIMER_MS),
      continuous: null,
    });
    const summary = await drain.run();
    if (summary.more || options.signal?.aborted) return summary;
    const { retention, hooks } = this.#settings;
    const { left, meter } = drain.queries;
    const upkeep = {
      wadi: this.wadi,
      retention,
      meter,
      report: (error: unknown) => report(hooks, error, "sweep"),
    };
    const hasSwept = left > retention.length && (await sweepAfterDrain(upkeep, deadlineMs));
    return hasSwept ? { ...summary, roundTrips: summary.roundTrips + 1, queries: meter.sent } : summary;
  }

  /**
   * Works until it is stopped, inside a process of yours: claims tasks as they become due, renews leases, survives a
   * database that is away (`onError` is told), sweeps by `retention`. Resolves after a stop, with what it did.
   *
   * @throws {InvalidArgument} if an option is out of range, no handler is registered, it runs already, or another worker of
   *   this process runs the same tasks. With a `name` the new one takes the place of one of the same name instead, which is stopped.
   * @throws {DriverError} if the database refuses the very first round trip and trying again is no use.
   */
  run(options?: RunOptions): Promise<DrainSummary> {
    return this.#stay.run(options);
  }

  /**
   * `run` for a process that is only a worker. SIGINT or SIGTERM stop it; a second one ends the process at once, with
   * exit code 130 or 143. It listens to them no more once it has stopped.
   *
   * @throws {Unsupported} where there is no process that gets signals.
   */
  serve(options?: ServeOptions): Promise<DrainSummary> {
    return this.#stay.serve(options);
  }

  /** Runs while `fn` does, then stops, and returns what `fn` returned. An error of `fn` goes before any other. */
  background<T>(fn: () => T | Promise<T>, options?: RunOptions): Promise<T> {
    return this.#stay.background(fn, options);
  }

  /**
   * Stops a run: nothing is claimed any more, what has not started is released without spending an attempt, and
   * handlers may go on for `graceMs`. Resolves when it has ended, at once if nothing runs. May be called more than
   * once; the first grace counts.
   */
  stop(options?: StopOptions): Promise<void> {
    return this.#stay.stop(options);
  }

  /** What a run is doing, or did at its end. No round trip. */
  stats(): WorkerStats {
    const { wadi } = this;
    const { hooks } = this.#settings;
    return this.#stay.stats ?? statsOf("stopped", this.#newContinuousDrain(null, hooks).status, wadi, null);
  }

  #enterRunning(stop: () => void): () => void {
    const { executor } = this.wadi;
    const { sql } = bind(executor, "select_version", {}); // another one in each schema of a database
    const lanes = [...this.#lanes].map((lane) => `${lane}\0${sql}`);
    return enterRunning(executor.database ?? executor, { name: this.#settings.givenName, lanes, stop });
  }

  #newHost(): Runner {
    this.#handlers("run");
    const newDrain = (continuous: ContinuousMode, hooks: WorkerHooks) =>
      this.#newContinuousDrain(continuous, hooks);
    return new Runner({ ...this.#settings, wadi: this.wadi, newDrain });
  }

  /** A drain that goes on until its signal aborts, and recovers when its database fails. */
  #newContinuousDrain(continuous: ContinuousMode | null, hooks: WorkerHooks): Drain {
    return this.#newDrain({
      registrations: this.#registrations,
      skipped: [],
      leaseMs: this.#settings.leaseMs,
      deadlineMs: Number.POSITIVE_INFINITY,
      reserveMs: RESERVE_MS,
      maxTasks: Number.MAX_SAFE_INTEGER,
      maxQueries: Number.POSITIVE_INFINITY,
      signal: continuous?.signal,
      lingerMs: 0,
      continuous,
      hooks,
    });
  }

  #newDrain(
    plan: Omit<DrainSettings, keyof Settings | "wadi" | "hints" | "unreturned"> &
      Partial<Pick<DrainSettings, "leaseMs" | "hooks">>,
  ): Drain {
    const shared = { wadi: this.wadi, hints: this.#hints, unreturned: this.#unreturned };
    return new Drain({ ...this.#settings, ...shared, ...plan });
  }

  #handlers(what: string): readonly Registration[] {
    if (this.#registrations.length === 0)
      throw new InvalidArgument(`${what} needs a handler: call worker.task(...) first`);
    return this.#registrations;
  }
}
