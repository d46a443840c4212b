import { monotonicMs } from "../../core/clock.ts";
import type { HandlerCall } from "../handler/handler-call.ts";
import type { LoopWatch } from "./event-loop-monitor.ts";

const NEVER = Number.POSITIVE_INFINITY;

/** Calls of handlers that have not returned, also if all their attempts have ended, and when their time is up. */
export class RunningCalls {
  /** When `expire` has something to do, at the earliest. */
  expiresAtMs = NEVER;
  /** What watches the event loop meanwhile. */
  watch: LoopWatch | null = null;
  readonly #calls = new Set<HandlerCall>();
  /** Those that ended in a turn of the event loop that takes too long. */
  #endedLate: HandlerCall[] = [];
  readonly #stopAtMs: number;
  readonly #cutOffMs: number;

  /**
   * At `stopAtMs` (on the monotonic clock) all of them are stopped anyway. `cutOffMs`: how long one that was stopped may take
   * to return.
   */
  constructor(stopAtMs: number, cutOffMs: number) {
    this.#stopAtMs = stopAtMs;
    this.#cutOffMs = cutOffMs;
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

  begin(delivery: HandlerCall): void {
    this.#calls.add(delivery);
    if (delivery.expiresAtMs < this.#stopAtMs) {
      this.expiresAtMs = Math.min(this.expiresAtMs, delivery.expiresAtMs);
    }
  }

  end(delivery: HandlerCall, nowMs: number): void {
    this.#calls.delete(delivery);
    if (this.watch !== null && nowMs > this.watch.dueAtMs) this.#endedLate.push(delivery);
  }

  /** Those that ran at a time of a block of the event loop, also if they have ended with it. */
  ranAt(atMs: number): HandlerCall[] {
    const ran = [...this.#endedLate, ...this.#calls].filter(({ startedAtMs }) => startedAtMs <= atMs);
    this.turned();
    return ran;
  }

  /** The event loop turns: what ended late is of no interest any more. */
  turned(): void {
    if (this.#endedLate.length > 0) this.#endedLate = [];
  }

  /** Stops those whose time is up, and cuts off those that were stopped and did not return. */
  expire(nowMs: number): void {
    if (nowMs < this.expiresAtMs) return;
    this.expiresAtMs = NEVER;
    for (const delivery of [...this.#calls]) {
      const { maxRunMs } = delivery.registration;
      if (nowMs >= delivery.expiresAtMs)
        delivery.expire(`ran longer than its maxRunMs of ${maxRunMs} ms`, nowMs + this.#cutOffMs);
      if (nowMs >= delivery.cutOffAtMs) delivery.cutOff();
      else this.expiresAtMs = Math.min(this.expiresAtMs, delivery.cutOffAtMs, delivery.expiresAtMs);
    }
  }

  /** After a drain has failed: stops all of them, and resolves when they have returned or were cut off. */
  async returned(until: (atMs: number) => Promise<void>): Promise<void> {
    if (this.size > 0) this.expireAll("ran in a drain that failed", monotonicMs());
    while (this.size > 0) {
      await until(this.expiresAtMs);
      this.expire(monotonicMs());
    }
  }

  expireAll(why: string, nowMs: number): void {
    for (const delivery of this.#calls) delivery.expire(why, nowMs + this.#cutOffMs);
    this.expiresAtMs = Math.min(this.expiresAtMs, nowMs + this.#cutOffMs);
  }
}
