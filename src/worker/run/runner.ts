import type { Retention } from "../../core/operations/control.ts";
import type { Wadi } from "../../producer/wadi.ts";
import type { ContinuousMode } from "../drain/drain-options.ts";
import type { DrainStatus, DrainSummary } from "../drain-summary.ts";
import { type ErrorContext, report, type WorkerHooks } from "../hooks.ts";
import { Maintenance } from "./maintenance.ts";
import { keepErrors, type LastError, statsOf, type WorkerStats } from "./stats.ts";

/** What a host needs of a continuous drain. */
export interface LongRunningDrain {
  /** Goes on until it is stopped. Rejects only with what trying again does not cure. */
  run(): Promise<DrainSummary>;
  readonly status: DrainStatus;
}

export interface RunnerOptions {
  readonly wadi: Wadi;
  readonly hooks: WorkerHooks;
  readonly retention: Retention;
  readonly sweepMs: number;
  readonly newDrain: (continuous: ContinuousMode, hooks: WorkerHooks) => LongRunningDrain;
}

/** One stay of a worker: a continuous drain, what wakes it, what watches over it, and what keeps its tables small. */
export class Runner {
  /** Resolves when it has stopped. */
  readonly done: Promise<DrainSummary>;
  readonly #wadi: Wadi;
  readonly #drain: LongRunningDrain;
  readonly #upkeep: Maintenance;
  readonly #report: (error: unknown, operation: ErrorContext["operation"]) => void;
  readonly #stop = new AbortController();
  #graceMs = 0;
  #lastError: LastError | null = null;
  #hasEnded = false;

  constructor(plan: RunnerOptions) {
    const { wadi } = plan;
    this.#wadi = wadi;
    const hooks = keepErrors(plan.hooks, (error) => {
      this.#lastError = error;
    });
    this.#report = (error, operation) => report(hooks, error, operation);
    const graceMs = () => this.#graceMs;
    const continuous: ContinuousMode = {
      signal: this.#stop.signal,
      get graceMs() {
        return graceMs();
      },
    };
    this.#drain = plan.newDrain(continuous, hooks);
    this.#upkeep = new Maintenance({ ...plan, report: this.#report });
    this.done = this.#stay();
  }

  /** The first call counts. */
  stop(graceMs: number): void {
    if (this.#stop.signal.aborted) return;
    this.#graceMs = graceMs;
    this.#stop.abort();
    void this.#upkeep.stop();
  }

  stats(): WorkerStats {
    const state = this.#hasEnded ? "stopped" : this.#stop.signal.aborted ? "stopping" : "running";
    return statsOf(state, this.#drain.status, this.#wadi, this.#lastError);
  }

  async #stay(): Promise<DrainSummary> {
    this.#upkeep.start();
    try {
      return await this.#drain.run();
    } finally {
      await this.#upkeep.stop();
      this.#hasEnded = true;
    }
  }
}
