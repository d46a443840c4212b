import { InvalidArgument } from "../../core/errors/errors.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import { integer, onlyKnown, optionalSignal } from "../../core/validate.ts";
import type { DrainSummary } from "../drain-summary.ts";
import type { Runner } from "./runner.ts";
import type { WorkerStats } from "./stats.ts";
import { handleStopSignals, type ProcessLike, thisProcess } from "./stop-signals.ts";

export interface StopOptions {
  /**
   * How long handlers may go on, in milliseconds. Then their signals abort, and what they worked on is queued again.
   * Minimum `0`. @default 10000
   */
  readonly graceMs?: number | undefined;
}

export interface RunOptions extends StopOptions {
  /** Stops the worker as `stop` does. @default none */
  readonly signal?: AbortSignal | undefined;
}

export interface ServeOptions extends RunOptions {
  /** The process whose SIGINT and SIGTERM stop the worker. @default the one this runs in */
  readonly process?: ProcessLike | undefined;
}

const GRACE_MS = 10_000;

type Enter = (stop: () => void) => () => void;

/** Lets a worker stay until it is told to stop, once at a time. */
export class Lifecycle {
  readonly #newHost: () => Runner;
  readonly #enter: Enter;
  #host: Runner | null = null;

  /**
   * `newHost` begins to work at once, and throws if the worker has nothing to do. `enter` is called before, with how to stop
   * it, and throws if another worker of this process is in the way; what it returns is called at the end.
   */
  constructor(newHost: () => Runner, enter: Enter = () => () => {}) {
    this.#newHost = newHost;
    this.#enter = enter;
  }

  get isOn(): boolean {
    return this.#host !== null && this.#host.stats().state !== "stopped";
  }

  /** Null before the first run. */
  get stats(): WorkerStats | null {
    return this.#host?.stats() ?? null;
  }

  async run(options?: RunOptions): Promise<DrainSummary> {
    onlyKnown("run", options, ["signal", "graceMs"]);
    const { host, release } = this.#begin(options);
    return host.done.finally(release);
  }

  async serve(options?: ServeOptions): Promise<DrainSummary> {
    onlyKnown("serve", options, ["signal", "graceMs", "process"]);
    const process = options?.process ?? thisProcess();
    const { host, release } = this.#begin(options);
    const disown = handleStopSignals(process, () => host.stop(graceOf(options)));
    return host.done.finally(() => {
      release();
      disown();
    });
  }

  async background<T>(fn: () => T | Promise<T>, options?: RunOptions): Promise<T> {
    onlyKnown("background", options, ["signal", "graceMs"]);
    if (typeof fn !== "function") throw new InvalidArgument("background takes a function");
    const grace = { graceMs: graceOf(options) };
    const { host, release } = this.#begin(options);
    const done = host.done.finally(release);
    done.catch(() => {}); // it may fail while fn goes on
    let result: T;
    try {
      result = await fn();
    } catch (error) {
      await this.stop(grace);
      throw error;
    }
    await this.stop(grace);
    await done;
    return result;
  }

  async stop(options?: StopOptions): Promise<void> {
    onlyKnown("stop", options, ["graceMs"]);
    const graceMs = graceOf(options);
    const host = this.#host;
    if (host === null) return;
    host.stop(graceMs);
    await host.done.catch(() => {}); // that is told to whoever runs it
  }

  #begin(options: RunOptions = {}): { host: Runner; release: () => void } {
    const signal = optionalSignal(options.signal);
    const graceMs = graceOf(options);
    if (this.isOn) {
      throw new InvalidArgument("this worker runs already; stop it first");
    }
    let stop = () => {};
    const leave = this.#enter(() => stop());
    let host: Runner;
    try {
      host = this.#newHost();
    } catch (error) {
      leave();
      throw error;
    }
    this.#host = host;
    stop = () => host.stop(graceMs);
    host.done.then(leave, leave);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    return { host, release: () => signal?.removeEventListener("abort", stop) };
  }
}

function graceOf({ graceMs = GRACE_MS }: StopOptions = {}): number {
  return integer("graceMs", graceMs, 0, MAX_TIMER_MS);
}
