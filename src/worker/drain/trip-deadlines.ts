import { NEVER } from "../../core/infinity.ts";
import { monotonicMs, toEpochMs } from "../../core/monotonic-clock.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { QueryMeter } from "../../core/session/query-meter.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import type { DrainSettings } from "./drain-settings.ts";

/** How long a drain waits for an answer that begins when its time is nearly up. */
const MIN_ANSWER_TIME_MS = 1000;
/** Shortest and longest time to wait for an answer before the round trip counts as failed and is sent again. */
const ANSWER_TIMEOUT_MS = [1000, 30_000] as const;
/** How long a continuous drain that was stopped tries to reach its database, beyond the grace of its handlers. */
const LAST_TRIES_MS = 1500;

/** Until when a drain waits for the answer of a round trip, and until when it tries again after failed ones. */
export class TripDeadlines {
  readonly #settings: DrainSettings;
  readonly #meter: QueryMeter;
  #endAtMs: number;
  #lastTryAtMs = NEVER;
  /** Aborts the request that is in flight; only a continuous drain does, after its stop. */
  readonly #abort: AbortController | null;
  #abortTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(settings: DrainSettings, meter: QueryMeter) {
    this.#settings = settings;
    this.#meter = meter;
    this.#abort = settings.continuous === null ? null : new AbortController();
    this.#endAtMs = Math.max(settings.deadlineMs, monotonicMs() + MIN_ANSWER_TIME_MS);
  }

  /**
   * A continuous drain was stopped: its handlers may go on for `graceMs`, and their outcomes are sent a while longer.
   */
  endSoon(nowMs: number, graceMs: number): void {
    this.#lastTryAtMs = nowMs + LAST_TRIES_MS;
    this.#endAtMs = this.#lastTryAtMs + graceMs;
    const { session } = this.#settings.wadi;
    const cause = new Error("no answer came before the worker had to stop");
    const reason = session.driverError("stop", "unknown", cause);
    const abort = () => this.#abort?.abort(reason);
    this.#abortTimer = setTimeout(abort, Math.min(LAST_TRIES_MS + graceMs, MAX_TIMER_MS));
  }

  close(): void {
    clearTimeout(this.#abortTimer);
  }

  /** Whether failed round trips are not tried again; sooner if there is nothing to settle. */
  isOver(nowMs: number, hasUnsettled: boolean): boolean {
    return nowMs >= (hasUnsettled ? this.#endAtMs : Math.min(this.#endAtMs, this.#lastTryAtMs));
  }

  /** For a round trip that is sent now. One that `isOnlyTry` has all the time that is left. */
  callOptions(isOnlyTry: boolean): OperationOptions {
    const meter = this.#meter;
    if (isOnlyTry) return { deadlineMs: toEpochMs(this.#endAtMs), meter };
    const [least, most] = ANSWER_TIMEOUT_MS;
    const timeoutMs = Math.min(most, Math.max(least, this.#settings.leaseMs / 3));
    const deadlineMs = toEpochMs(Math.min(this.#endAtMs, monotonicMs() + timeoutMs));
    return { deadlineMs, signal: this.#abort?.signal, meter };
  }
}
