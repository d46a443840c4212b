/** The work that a long-running worker does in addition to its tasks. */

import { type Retention, sweepTasks } from "../../core/operations/control.ts";
import { sleep } from "../../core/timers.ts";
import type { WadiInternals } from "../../producer/internals.ts";
import type { ErrorContext } from "../hooks.ts";

export interface MaintenanceOptions {
  readonly wadi: WadiInternals;
  readonly retention: Retention;
  /** Pause between two sweeps in milliseconds. */
  readonly sweepMs: number;
  /** Called with each error; the failed work is tried again when it is next due. */
  readonly report: (error: unknown, operation: ErrorContext["operation"]) => void;
}

/** Most tasks that one sweep deletes for each rule: few, so that other statements do not wait long for its locks. */
export const SWEEP_LIMIT = 500;
/** Pause before the next sweep while there is more to delete, so that claims get their turn in between. */
const MORE_MS = 100;
const OPTIMIZE_MS = 3_600_000;
/** How long a stop waits for work in progress. */
const STOP_MS = 1000;
/** Longest time of one sweep. */
const SWEEP_TIMEOUT_MS = 30_000;

/** While a worker runs: deletes tasks by the retention rules, and keeps the statistics of the query planner current. */
export class TableMaintenance {
  readonly #options: MaintenanceOptions;
  #timers: (ReturnType<typeof setTimeout> | undefined)[] = [];
  #work: Promise<unknown> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  /** Aborts the sweep in progress. */
  readonly #abort = new AbortController();

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  start(): void {
    const { retention, sweepMs, wadi } = this.#options;
    // Workers that start at the same time sweep at different times.
    if (retention.length > 0) this.#later(0, sweepMs * Math.random(), () => this.#sweep());
    if (wadi.executor.optimize !== undefined) this.#later(1, OPTIMIZE_MS, () => this.#optimize());
  }

  /**
   * Starts no more work, waits at most a second for work in progress, and leaves the statistics current. May be called
   * again.
   */
  stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  async #end(): Promise<void> {
    const ended = this.#work.then(() =>
      this.#try("optimize", () => this.#options.wadi.executor.optimize?.()),
    );
    await sleep(STOP_MS, undefined, ended.then());
    const { session } = this.#options.wadi;
    this.#abort.abort(
      session.driverError("sweep", "unknown", new Error("the worker was stopped before it was answered")),
    );
  }

  #later(slot: 0 | 1, ms: number, work: () => Promise<void>): void {
    if (this.#stopping !== undefined) return;
    this.#timers[slot] = setTimeout(() => {
      this.#work = this.#work.then(() => (this.#stopping === undefined ? work() : undefined));
    }, ms);
  }

  async #sweep(): Promise<void> {
    const { retention, sweepMs, wadi } = this.#options;
    const { session } = wadi;
    const swept = await this.#try("sweep", () => {
      const call = { deadlineMs: Date.now() + SWEEP_TIMEOUT_MS, signal: this.#abort.signal };
      return session.execute(sweepTasks(session.target, retention, SWEEP_LIMIT), call);
    });
    this.#later(0, swept?.more ? MORE_MS : sweepMs, () => this.#sweep());
  }

  async #optimize(): Promise<void> {
    await this.#try("optimize", () => this.#options.wadi.executor.optimize!());
    this.#later(1, OPTIMIZE_MS, () => this.#optimize());
  }

  async #try<T>(operation: ErrorContext["operation"], work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#options.report(error, operation);
      return undefined;
    }
  }
}
