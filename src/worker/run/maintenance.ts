import { monotonicMs, toEpochMs } from "../../core/clock.ts";
import type { Executor } from "../../core/executor.ts";
import type { Retention } from "../../core/operations/control.ts";
import type { QueryMeter } from "../../core/session/query-meter.ts";
import { sleep } from "../../core/timers.ts";
import type { Wadi } from "../../producer/wadi.ts";
import type { ErrorContext } from "../hooks.ts";

export interface MaintenanceOptions {
  readonly wadi: Wadi;
  readonly retention: Retention;
  /** Pause between two sweeps in milliseconds. */
  readonly sweepMs: number;
  /** Told of what failed; it is tried again in its turn. */
  readonly report: (error: unknown, operation: ErrorContext["operation"]) => void;
}

/** Most tasks that one sweep deletes for each rule: few enough that nobody waits long for its locks. */
const BATCH = 500;
/** Pause before the next batch while there is more, so that claims get between. */
const MORE_MS = 100;
const OPTIMIZE_MS = 3_600_000;
/** How long a stop waits for what is under way. */
const STOP_MS = 1000;
/** What one sweep may take. */
const SWEEP_LIMIT_MS = 30_000;
/** Pause between the sweeps of short drains in one process. */
const DRAIN_SWEEP_MS = 60_000;
/** A drain with less time left than this does not sweep. */
const LEAST_LEFT_MS = 1000;

/** Sweeps by the retention rules and keeps the planner's statistics current, for as long as a worker runs. */
export class Maintenance {
  readonly #plan: MaintenanceOptions;
  #timers: (ReturnType<typeof setTimeout> | undefined)[] = [];
  #work: Promise<unknown> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  /** Ends the sweep that is under way. */
  readonly #abort = new AbortController();

  constructor(plan: MaintenanceOptions) {
    this.#plan = plan;
  }

  start(): void {
    const { retention, sweepMs, wadi } = this.#plan;
    // Workers that start together sweep apart.
    if (retention.length > 0) this.#later(0, sweepMs * Math.random(), () => this.#sweep());
    if (wadi.executor.optimize !== undefined) this.#later(1, OPTIMIZE_MS, () => this.#optimize());
  }

  /**
   * Begins nothing more, waits a second at most for what is under way, and leaves the statistics current. May be called
   * again.
   */
  stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  async #end(): Promise<void> {
    const ended = this.#work.then(() => this.#try("optimize", () => this.#plan.wadi.executor.optimize?.()));
    await sleep(STOP_MS, undefined, ended.then());
    const { store } = this.#plan.wadi;
    this.#abort.abort(
      store.session.driverError(
        "sweep",
        "unknown",
        new Error("the worker was stopped before it was answered"),
      ),
    );
  }

  #later(slot: 0 | 1, ms: number, work: () => Promise<void>): void {
    if (this.#stopping !== undefined) return;
    this.#timers[slot] = setTimeout(() => {
      this.#work = this.#work.then(work);
    }, ms);
  }

  async #sweep(): Promise<void> {
    if (this.#stopping !== undefined) return;
    const { wadi, retention, sweepMs } = this.#plan;
    const swept = await this.#try("sweep", () => {
      const call = { deadlineMs: Date.now() + SWEEP_LIMIT_MS, signal: this.#abort.signal };
      return wadi.store.sweep(retention, { limit: BATCH }, call);
    });
    this.#later(0, swept?.more ? MORE_MS : sweepMs, () => this.#sweep());
  }

  async #optimize(): Promise<void> {
    if (this.#stopping !== undefined) return;
    await this.#try("optimize", () => this.#plan.wadi.executor.optimize!());
    this.#later(1, OPTIMIZE_MS, () => this.#optimize());
  }

  async #try<T>(operation: ErrorContext["operation"], work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#plan.report(error, operation);
      return undefined;
    }
  }
}

let lastDrainSweepMs = Number.NEGATIVE_INFINITY;
/** The last one that each database was there for, so that those drained in turn are swept in turn too. */
const drainSweepsMs = new WeakMap<Executor, number>();

/**
 * One sweep in what is left of a short drain, at most one a minute for each executor that stays in this process, and one
 * a minute for all that are new: an invocation has no time of its own for it. True if it was sent.
 */
export async function sweepAfterDrain(
  { wadi, retention, meter, report }: Omit<MaintenanceOptions, "sweepMs"> & { readonly meter?: QueryMeter },
  deadlineMs: number,
): Promise<boolean> {
  const nowMs = monotonicMs();
  if (retention.length === 0 || deadlineMs - nowMs < LEAST_LEFT_MS) return false;
  const lastMs = drainSweepsMs.get(wadi.executor) ?? lastDrainSweepMs;
  drainSweepsMs.set(wadi.executor, lastMs);
  if (nowMs - lastMs < DRAIN_SWEEP_MS) return false;
  drainSweepsMs.set(wadi.executor, nowMs);
  lastDrainSweepMs = nowMs;
  await wadi.store
    .sweep(retention, { limit: BATCH }, { deadlineMs: toEpochMs(deadlineMs), meter })
    .catch((error) => report(error, "sweep"));
  return true;
}
