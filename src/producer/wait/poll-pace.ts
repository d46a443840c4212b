/** When a wait polls next. */
import { MAX_TIMER_MS } from "../../core/timers.ts";

export interface PollPaceOptions {
  readonly timeoutMs: number;
  readonly pollMs: number;
  readonly maxPollMs: number;
  /** Most queries of this wait. @default what the driver's limits allow */
  readonly maxQueries?: number | null | undefined;
}

const GROWTH = 1.5;
/** Pause while the database reports the end of tasks. A notification can be lost without a trace. */
const SAFETY_POLL_MS = 30_000;

/** Decides when one wait polls: with growing pauses, and within the platform's limit of queries. */
export class PollPace {
  readonly endMs: number;
  readonly #options: PollPaceOptions;
  readonly #maxQueries: number;
  #polledAtMs: number;
  /** The pause by the options alone. */
  #stepMs: number;
  /** The pause that ends at `dueAtMs`. */
  #pauseMs = 0;
  /** On the monotonic clock. */
  dueAtMs: number;

  /** Times are of the monotonic clock. `maxQueries` is the default of that option, `Infinity` without a limit. */
  constructor(options: PollPaceOptions, nowMs: number, maxQueries: number) {
    this.#options = options;
    this.#stepMs = options.pollMs;
    this.#maxQueries = options.maxQueries ?? maxQueries;
    this.#polledAtMs = nowMs;
    this.endMs = nowMs + options.timeoutMs;
    this.dueAtMs = nowMs;
  }

  isOver(nowMs: number): boolean {
    return nowMs >= this.endMs;
  }

  /** Whether a poll that is made for another wait may serve this one as well: at least half of its pause is over. */
  isNear(nowMs: number): boolean {
    return this.dueAtMs - nowMs <= this.#pauseMs / 2;
  }

  /**
   * Begins a pause. Pauses do not grow when the poll of another wait cuts them short, so that waits do not slow each
   * other down.
   *
   * @param sent Requests since this wait began, those for other waits included.
   * @param isPushed Whether a notification will report the end, so that polls are only a safeguard.
   */
  rest(nowMs: number, sent: number, isPushed: boolean): void {
    const { pollMs, maxPollMs } = this.#options;
    const wasDue = nowMs >= this.dueAtMs;
    let pauseMs = isPushed ? Math.max(this.#stepMs, SAFETY_POLL_MS) : this.#stepMs;
    // The first half of the queries is sent by the options; the other half is spread over the remaining time.
    if (sent * 2 >= this.#maxQueries) {
      pauseMs = Math.max(pauseMs, (this.endMs - nowMs) / Math.max(1, this.#maxQueries - sent));
    }
    if (wasDue) this.#stepMs = Math.max(pollMs, Math.min(maxPollMs, this.#stepMs * GROWTH));
    this.#polledAtMs = nowMs;
    this.#begin(nowMs, pauseMs);
  }

  /** The next poll is `pauseMs` away at the most. */
  hasten(nowMs: number, pauseMs: number): void {
    if (nowMs + pauseMs < this.dueAtMs) this.#begin(nowMs, pauseMs);
  }

  /** The next poll is `pauseMs` away at the least, but not after the end. */
  delay(nowMs: number, pauseMs: number): void {
    if (nowMs + pauseMs > this.dueAtMs) this.#begin(nowMs, pauseMs);
  }

  /** Notifications have stopped: back to the pauses of the options. */
  resume(nowMs: number): void {
    this.hasten(nowMs, Math.max(0, this.#polledAtMs + this.#stepMs - nowMs));
  }

  #begin(nowMs: number, pauseMs: number): void {
    this.#pauseMs = pauseMs;
    this.dueAtMs = Math.min(nowMs + Math.min(pauseMs, MAX_TIMER_MS), this.endMs);
  }
}
