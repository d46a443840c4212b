import type { Retention } from "../../core/operations/control.ts";
import type { WadiInternals } from "../../producer/internals.ts";
import type { ContinuousMode } from "../drain/drain-settings.ts";
import type { DrainStatus, DrainSummary } from "../drain-summary.ts";
import { report, type WorkerHooks } from "../hooks.ts";
import { type LastError, recordErrors, statsOf, type WorkerStats } from "./stats.ts";
import { TableMaintenance } from "./table-maintenance.ts";

/** The part of a continuous drain that a runner uses. */
export interface LongRunningDrain {
  /** Resolves when it was stopped. Rejects only with an error that another try cannot change. */
  run(): Promise<DrainSummary>;
  readonly status: DrainStatus;
}

export interface RunnerOptions {
  readonly wadi: WadiInternals;
  readonly hooks: WorkerHooks;
  readonly retention: Retention;
  readonly sweepMs: number;
  readonly newDrain: (continuous: ContinuousMode, hooks: WorkerHooks) => LongRunningDrain;
}

/**
 * One run of a long-running worker, from its start to its stop: a continuous drain, and the maintenance of its
 * tables.
 */
export class Runner implements ContinuousMode {
  /** Resolves when it has stopped. */
  readonly done: Promise<DrainSummary>;
  readonly signal: AbortSignal;
  readonly #wadi: WadiInternals;
  readonly #drain: LongRunningDrain;
  readonly #maintenance: TableMaintenance;
  readonly #stop = new AbortController();
  #graceMs = 0;
  #lastError: LastError | null = null;
  #hasEnded = false;

  constructor(options: RunnerOptions) {
    this.#wadi = options.wadi;
    const hooks = recordErrors(options.hooks, (error) => {
      this.#lastError = error;
    });
    this.signal = this.#stop.signal;
    this.#drain = options.newDrain(this, hooks);
    this.#maintenance = new TableMaintenance({
      ...options,
      report: (error, operation) => report(hooks, error, operation),
    });
    this.done = this.#run();
  }

  get graceMs(): number {
    return this.#graceMs;
  }

  /** The first call counts. */
  stop(graceMs: number): void {
    if (this.signal.aborted) return;
    this.#graceMs = graceMs;
    this.#stop.abort();
    void this.#maintenance.stop();
  }

  stats(): WorkerStats {
    const state = this.#hasEnded ? "stopped" : this.signal.aborted ? "stopping" : "running";
    return statsOf(state, this.#drain.status, this.#wadi, this.#lastError);
  }

  async #run(): Promise<DrainSummary> {
    this.#maintenance.start();
    try {
      return await this.#drain.run();
    } finally {
      await this.#maintenance.stop();
      this.#hasEnded = true;
    }
  }
}
