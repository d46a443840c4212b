import { integer, MAX_TIMER_MS, onlyKnown, text } from "../core/arguments.ts";
import type { Backoff } from "../core/backoff.ts";
import { type AnyTaskDefinition, defineTask, type TaskDefinition } from "../core/define-task.ts";
import { InvalidArgument } from "../core/errors.ts";
import { ulid } from "../core/ids.ts";
import type { Wadi } from "../core/wadi.ts";
import type { Handler } from "./context.ts";
import { Drain, type DrainSummary } from "./drain.ts";
import type { WorkerHooks } from "./hooks.ts";
import { laneKey, type Registration, RunTimes } from "./registration.ts";

export interface WorkerOptions extends WorkerHooks {
  /** Queue of names that are registered as plain strings. @default "default" */
  readonly queue?: string | undefined;
  /** Handlers that run at once. Minimum `1`. @default 10 */
  readonly concurrency?: number | undefined;
  /**
   * Longest lease in milliseconds; how soon the tasks of a killed invocation come back. A drain that ends
   * sooner leases for its own length and sends no heartbeat: its handlers learn of a requested cancel only
   * by a heartbeat or progress report of their own. Minimum `100`. @default 60000
   */
  readonly leaseMs?: number | undefined;
  /** Wait between attempts. @default { baseMs: 1000, capMs: 30000 } */
  readonly backoff?: Partial<Backoff> | undefined;
  /** Prefix of the lease tokens, for people who read the table. @default a random one */
  readonly name?: string | undefined;
}

export interface HandlerOptions {
  /** @default the definition's queue, else the worker's */
  readonly queue?: string | undefined;
  /**
   * Longest run of one attempt in milliseconds. A drain that is shorter leaves the name out.
   * @default the definition's, else none
   */
  readonly maxRunMs?: number | undefined;
}

export interface DrainOptions {
  /** Time of the invocation in milliseconds. Minimum `1`. @default 25000 */
  readonly budgetMs?: number | undefined;
  /** When the invocation must be over, as a Date or epoch milliseconds; instead of `budgetMs`. */
  readonly deadline?: Date | number | undefined;
  /** Stops the drain as its deadline would. */
  readonly signal?: AbortSignal | undefined;
  /** Most tasks to claim. Minimum `1`. @default no limit */
  readonly maxTasks?: number | undefined;
}

interface Settings {
  readonly queue: string;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly backoff: Backoff;
  readonly name: string;
}

const WORKER_OPTIONS = ["queue", "concurrency", "leaseMs", "backoff", "name", "around", "onEvent", "onError"];

const DEFAULT_BUDGET_MS = 25_000;
/** A lease outlasts its invocation by this, so that the last settlement is still the owner's. */
const LEASE_MARGIN_MS = 5_000;

/** The consumer's side: handlers by name, and the drain that runs them within one short invocation. */
export class Worker {
  readonly wadi: Wadi;
  readonly #options: Settings;
  readonly #registrations = new Map<string, Registration>();

  /** @throws {InvalidArgument} if an option is out of range. */
  constructor(wadi: Wadi, options: WorkerOptions = {}) {
    onlyKnown("new Worker", options, WORKER_OPTIONS);
    onlyKnown("backoff", options.backoff, ["baseMs", "capMs"]);
    this.wadi = wadi;
    this.#options = {
      queue: text("queue", options.queue ?? "default"),
      concurrency: integer("concurrency", options.concurrency ?? 10, 1, 10_000),
      leaseMs: integer("leaseMs", options.leaseMs ?? 60_000, 100),
      backoff: {
        baseMs: integer("backoff.baseMs", options.backoff?.baseMs ?? 1000, 0),
        capMs: integer("backoff.capMs", options.backoff?.capMs ?? 30_000, 0),
      },
      name: text("name", options.name ?? `wadi-${ulid().slice(-8).toLowerCase()}`),
    };
  }

  /**
   * Registers the handler of a task name.
   *
   * @throws {InvalidArgument} if the name has a handler in this queue already.
   * @example worker.task(resize, async ({ payload, signal }) => ({ bytes: await resizeImage(payload.url, signal) }));
   */
  task<Input, Payload, Result>(
    task: TaskDefinition<Input, Payload, Result>,
    handler: Handler<Payload, Result>,
    options?: HandlerOptions,
  ): this;
  task(name: string, handler: Handler, options?: HandlerOptions): this;
  task(
    task: string | AnyTaskDefinition,
    handler: Handler<never, unknown>,
    options: HandlerOptions = {},
  ): this {
    onlyKnown("task", options, ["queue", "maxRunMs"]);
    const definition =
      typeof task === "string" ? defineTask({ name: task, queue: this.#options.queue }) : task;
    if (typeof handler !== "function")
      throw new InvalidArgument(`the handler of "${definition.name}" must be a function`);
    const registration: Registration = {
      queue: text("queue", options.queue ?? definition.queue),
      name: definition.name,
      handler: handler as Handler,
      maxRunMs:
        options.maxRunMs === undefined
          ? definition.maxRunMs
          : integer("maxRunMs", options.maxRunMs, 1, MAX_TIMER_MS),
      payload: definition.payload,
      result: definition.result,
      runs: new RunTimes(),
    };
    const lane = laneKey(registration);
    if (this.#registrations.has(lane)) {
      throw new InvalidArgument(
        `"${registration.name}" has a handler in the queue "${registration.queue}" already`,
      );
    }
    this.#registrations.set(lane, registration);
    return this;
  }

  /**
   * One invocation: claims due tasks, runs them, settles them, and returns when nothing is due or the time
   * is up. It does not wait for what becomes due later, retries included: `nextDueAtMs` says when. Settling and the next claim share a round trip; an empty drain is one round trip.
   *
   * @throws {InvalidArgument} if an option is out of range, or no handler is registered or fits the time.
   * @throws {DriverError} if the database stays out of reach; tasks in play come back when their leases run out.
   */
  async drain(options: DrainOptions = {}): Promise<DrainSummary> {
    onlyKnown("drain", options, ["budgetMs", "deadline", "signal", "maxTasks"]);
    if (this.#registrations.size === 0)
      throw new InvalidArgument("drain needs a handler: call worker.task(...) first");
    const nowMs = Date.now();
    const deadlineMs = deadlineOf(options, nowMs);
    const budgetMs = Math.max(0, deadlineMs - nowMs);
    const reserveMs = Math.min(1000, budgetMs / 10);
    const registrations = [...this.#registrations.values()].filter(
      ({ maxRunMs }) => maxRunMs === null || maxRunMs <= budgetMs - reserveMs,
    );
    if (registrations.length === 0) {
      throw new InvalidArgument(
        `no handler's maxRunMs fits a drain of ${budgetMs} ms; raise budgetMs or lower maxRunMs`,
      );
    }
    const drain = new Drain({
      ...this.#options,
      wadi: this.wadi,
      registrations,
      leaseMs: Math.min(this.#options.leaseMs, budgetMs + LEASE_MARGIN_MS),
      deadlineMs,
      reserveMs,
      maxTasks:
        options.maxTasks === undefined ? Number.MAX_SAFE_INTEGER : integer("maxTasks", options.maxTasks, 1),
      signal: options.signal,
    });
    return drain.run();
  }
}

function deadlineOf(options: DrainOptions, nowMs: number): number {
  if (options.deadline === undefined)
    return nowMs + integer("budgetMs", options.budgetMs ?? DEFAULT_BUDGET_MS, 1, MAX_TIMER_MS);
  if (options.budgetMs !== undefined) throw new InvalidArgument("pass either budgetMs or deadline, not both");
  return integer("deadline", Number(options.deadline), 0);
}
