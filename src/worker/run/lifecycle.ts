/** How a worker starts and stops: `run`, `serve`, `background` and `stop`, with their options. */

import {
  type Checked,
  type CompleteChecks,
  checkOptions,
  integerFrom,
  unchecked,
  withDefault,
} from "../../core/check-options.ts";
import { InvalidArgument } from "../../core/errors/errors.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import { optionalSignal } from "../../core/validate.ts";
import type { DrainSummary } from "../drain-summary.ts";
import type { Runner } from "./runner.ts";
import type { WorkerStats } from "./stats.ts";
import { handleStopSignals, type ProcessLike, thisProcess } from "./stop-signals.ts";

/** Options of `worker.stop`. */
export interface StopOptions {
  /**
   * How long handlers may go on, in milliseconds. Then their signals abort, and their tasks are queued again. Minimum
   * `0`.
   * @default 10000
   */
  readonly graceMs?: number | undefined;
}

/** Options of `worker.run` and `worker.background`. */
export interface RunOptions extends StopOptions {
  /** Stops the worker as `stop` does. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `worker.serve`. */
export interface ServeOptions extends RunOptions {
  /** The process whose SIGINT and SIGTERM stop the worker. @default the process this runs in */
  readonly process?: ProcessLike | undefined;
}

const STOP = {
  graceMs: withDefault(integerFrom(0, MAX_TIMER_MS), 10_000),
} satisfies CompleteChecks<StopOptions>;
const RUN = {
  ...STOP,
  signal: (_: string, signal: unknown) => optionalSignal(signal),
} satisfies CompleteChecks<RunOptions>;
type CheckedRun = Checked<typeof RUN>;
const SERVE = { ...RUN, process: unchecked } satisfies CompleteChecks<ServeOptions>;

/** Starts and stops the runs of a worker, one run at a time. */
export class Lifecycle {
  readonly #newRunner: () => Runner;
  readonly #register: (stop: () => void) => () => void;
  #runner: Runner | null = null;

  /**
   * `newRunner` starts to work at once, and throws if the worker has no handlers. `register` is called before with a
   * function that stops the run, and throws if another worker of this process runs the same tasks; the function it
   * returns is called when the run has ended.
   */
  constructor(newRunner: () => Runner, register: (stop: () => void) => () => void = () => () => {}) {
    this.#newRunner = newRunner;
    this.#register = register;
  }

  get isRunning(): boolean {
    return this.#runner !== null && this.#runner.stats().state !== "stopped";
  }

  /** Null before the first run. */
  get stats(): WorkerStats | null {
    return this.#runner?.stats() ?? null;
  }

  async run(options?: RunOptions): Promise<DrainSummary> {
    return this.#start(checkOptions("run", options, RUN)).done;
  }

  async serve(options?: ServeOptions): Promise<DrainSummary> {
    const checked = checkOptions("serve", options, SERVE);
    const process = options?.process ?? thisProcess();
    const { runner, done } = this.#start(checked);
    return done.finally(handleStopSignals(process, () => runner.stop(checked.graceMs)));
  }

  async background<T>(fn: () => T | Promise<T>, options?: RunOptions): Promise<T> {
    const checked = checkOptions("background", options, RUN);
    if (typeof fn !== "function") throw new InvalidArgument("background takes a function");
    const { done } = this.#start(checked);
    done.catch(() => {}); // it may fail before `fn` ends; it is awaited after that
    let result: T;
    try {
      result = await fn();
    } finally {
      await this.stop({ graceMs: checked.graceMs });
    }
    await done;
    return result;
  }

  async stop(options?: StopOptions): Promise<void> {
    const { graceMs } = checkOptions("stop", options, STOP);
    const runner = this.#runner;
    if (runner === null) return;
    runner.stop(graceMs);
    await runner.done.catch(() => {}); // the caller of `run` gets the error
  }

  /** `done` is that of the runner, once everything that the run holds is released. */
  #start({ signal, graceMs }: CheckedRun): { readonly runner: Runner; readonly done: Promise<DrainSummary> } {
    if (this.isRunning) {
      throw new InvalidArgument("this worker is already running; stop it first");
    }
    let stop = () => {};
    const unregister = this.#register(() => stop());
    let runner: Runner;
    try {
      runner = this.#newRunner();
    } catch (error) {
      unregister();
      throw error;
    }
    this.#runner = runner;
    stop = () => runner.stop(graceMs);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    const done = runner.done.finally(() => {
      unregister();
      signal?.removeEventListener("abort", stop);
    });
    return { runner, done };
  }
}
