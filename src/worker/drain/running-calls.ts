import { NEVER } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { HandlerCall } from "../handler/handler-call.ts";
import type { DrainTime } from "./drain-time.ts";
import type { LoopWatch } from "./event-loop-monitor.ts";

/**
 * The handler calls of a drain that have not returned: when their time is up, and which ran during a block of the
 * event loop.
 */
export class RunningCalls {
  readonly #calls = new Set<HandlerCall>();
  readonly #time: DrainTime;
  #expiresAtMs = NEVER;
  #watch: LoopWatch | null = null;
  /** Calls that ended in a turn of the event loop that takes too long. */
  #endedLate: HandlerCall[] = [];

  constructor(time: DrainTime) {
    this.#time = time;
  }

  get size(): number {
    return this.#calls.size;
  }

  [Symbol.iterator](): IterableIterator<HandlerCall> {
    return this.#calls.values();
  }

  /** Names of their tasks, with repeats. */
  get names(): string[] {
    return [...this.#calls].flatMap(({ attempts }) => attempts.map(({ task }) => task.name));
  }

  /** When `expire` has something to do, at the earliest. */
  get expiresAtMs(): number {
    return this.#expiresAtMs;
  }

  /** From now on `watch` says which calls end in a turn that takes too long. */
  watchWith(watch: LoopWatch): void {
    this.#watch = watch;
  }

  begin(call: HandlerCall): void {
    this.#calls.add(call);
    if (call.expiresAtMs < this.#time.stopAtMs) this.#expireAt(call.expiresAtMs);
  }

  end(call: HandlerCall, nowMs: number): void {
    this.#calls.delete(call);
    if (this.#watch !== null && nowMs > this.#watch.dueAtMs) this.#endedLate.push(call);
  }

  #expireAt(atMs: number): void {
    this.#expiresAtMs = Math.min(this.#expiresAtMs, atMs);
  }

  /** The calls that ran at a time of a block of the event loop, including those that ended with it. */
  ranAt(atMs: number): HandlerCall[] {
    const ran = [...this.#endedLate, ...this.#calls].filter(({ startedAtMs }) => startedAtMs <= atMs);
    this.turned();
    return ran;
  }

  /** The event loop is not blocked: forgets the calls that ended late. */
  turned(): void {
    if (this.#endedLate.length > 0) this.#endedLate = [];
  }

  /** Stops the calls whose time is up, and cuts off those that were stopped and did not return. */
  expire(nowMs: number): void {
    if (nowMs < this.#expiresAtMs) return;
    this.#expiresAtMs = NEVER;
    for (const call of [...this.#calls]) {
      const { maxRunMs } = call.registration;
      if (nowMs >= call.expiresAtMs)
        call.expire(`ran longer than its maxRunMs of ${maxRunMs} ms`, nowMs + this.#time.cutOffMs);
      if (nowMs >= call.cutOffAtMs) call.cutOff();
      else this.#expireAt(Math.min(call.cutOffAtMs, call.expiresAtMs));
    }
  }

  /** Stops all calls, for the reason `why`. */
  expireAll(why: string, nowMs: number): void {
    for (const call of this.#calls) call.expire(why, nowMs + this.#time.cutOffMs);
    this.#expireAt(nowMs + this.#time.cutOffMs);
  }

  /**
   * Resolves when all calls have returned or were cut off. Those that still run, since the drain has failed, are
   * stopped.
   */
  async returned(waiting: { until(atMs: number): Promise<void> }): Promise<void> {
    if (this.size > 0) this.expireAll("ran in a drain that failed", monotonicMs());
    while (this.size > 0) {
      await waiting.until(this.#expiresAtMs);
      this.expire(monotonicMs());
    }
  }
}
