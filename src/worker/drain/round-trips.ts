import { type Backoff, backoffDelay } from "../../core/backoff.ts";
import { isDatabaseRefusal } from "../../core/errors/database-refusals.ts";
import { type DriverError, WadiError } from "../../core/errors/errors.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { QueryMeter } from "../../core/session/query-meter.ts";
import { type ErrorContext, report } from "../hooks.ts";
import type { Cycle, CycleAnswer } from "./cycle-composer.ts";
import type { DrainReporter } from "./drain-reporter.ts";
import type { DrainSettings } from "./drain-settings.ts";
import { sendCycle } from "./send-cycle.ts";
import { TripDeadlines } from "./trip-deadlines.ts";

/** The parts of a drain that its round trips use. */
export interface RoundTripsParts {
  readonly settings: DrainSettings;
  readonly totals: DrainReporter;
  readonly queries: { readonly meter: QueryMeter };
  /** What would be lost if the drain failed. */
  readonly held: { readonly isEmpty: boolean; readonly outbox: { readonly length: number } };
  /** Woken by each answer. */
  readonly waiting: { wake(): void };
}

/** Pauses between tries while the database fails. */
const OUTAGE: Backoff = { baseMs: 200, capMs: 5000 };

/** Errors that no later try would mend. */
const FATAL = ["PROTOCOL_VERSION_MISMATCH", "SCHEMA_MISMATCH", "SCOPE_MISMATCH"];

/**
 * Makes the round trips of a drain, one at a time. After a failed one it tries again, until the time is up, and sends
 * again the cycle whose outcome is unknown. Only a short drain that holds nothing fails with the first error: nothing
 * is lost then.
 */
export class RoundTrips {
  readonly deadlines: TripDeadlines;
  readonly #parts: RoundTripsParts;
  #isBusy = false;
  #answeredAtMs = 0;
  #failures = 0;
  #retryAtMs = 0;
  #unanswered: Cycle | null = null;
  #failure: { readonly error: unknown } | null = null;
  #lastError: unknown;
  #wasReached = false;

  constructor(parts: RoundTripsParts) {
    this.#parts = parts;
    this.deadlines = new TripDeadlines(parts.settings, parts.queries.meter);
  }

  /** Whether a round trip is in flight. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** When the last round trip was answered or failed. */
  get answeredAtMs(): number {
    return this.#answeredAtMs;
  }

  /** Whether the last round trip failed. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** No round trip before this. */
  get retryAtMs(): number {
    return this.#retryAtMs;
  }

  /** The cycle that was sent and whose outcome is unknown. */
  get unanswered(): Cycle | null {
    return this.#unanswered;
  }

  /** The error that the drain fails with. */
  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }

  /** Whether the drain gives up after failed round trips. A short one fails with the last error. */
  givesUp(nowMs: number): boolean {
    const isOver = this.deadlines.isOver(nowMs, this.#hasUnsettled);
    if (isOver && this.#parts.settings.continuous === null) this.#failure = { error: this.#lastError };
    return isOver;
  }

  get #hasUnsettled(): boolean {
    return this.#parts.held.outbox.length > 0 || (this.#unanswered?.attempts.length ?? 0) > 0;
  }

  /** Whether an error may end the drain, since it holds nothing that would be lost. */
  get #isOnlyTry(): boolean {
    return this.#parts.settings.continuous === null && this.#parts.held.isEmpty && !this.#hasUnsettled;
  }

  /** Makes a round trip. Never throws. */
  send(operation: ErrorContext["operation"], trip: (call: OperationOptions) => Promise<void>): void {
    this.#isBusy = true;
    this.#send(operation, trip).then(this.#parts.waiting.wake, (error) => this.fail(error));
  }

  /** Ends the drain with an error that is not the database's. */
  fail(error: unknown): void {
    this.#isBusy = false;
    this.#failure ??= { error };
    this.#parts.waiting.wake();
  }

  async #send(
    operation: ErrorContext["operation"],
    trip: (call: OperationOptions) => Promise<void>,
  ): Promise<void> {
    try {
      await trip(this.deadlines.callOptions(this.#isOnlyTry));
      this.#failures = 0;
      this.#retryAtMs = 0;
      this.#wasReached = true;
    } catch (error) {
      this.#recover(error, operation);
    }
    this.#isBusy = false;
    this.#answeredAtMs = monotonicMs();
  }

  /** Reports the error and plans the next try, unless the drain fails with it. */
  #recover(error: unknown, operation: ErrorContext["operation"]): void {
    if (this.#isOnlyTry || this.#isFatal(error)) {
      this.#failure = { error };
      return;
    }
    this.#lastError = error;
    const { settings } = this.#parts;
    report(settings.hooks, error, operation);
    const nowMs = monotonicMs();
    const { lastTryAtMs } = settings.time;
    const retryAtMs = nowMs + backoffDelay(OUTAGE, ++this.#failures);
    // Outcomes are sent once more while an answer can still arrive in time.
    this.#retryAtMs = nowMs < lastTryAtMs ? Math.min(retryAtMs, lastTryAtMs) : retryAtMs;
    const cycle = this.#unanswered;
    if (cycle === null) return;
    // A cycle that the database keeps refusing must not hold up the others for longer than its leases last.
    const isExpired = cycle.attempts.every(({ lease }) => lease.endsAtMs <= this.#retryAtMs);
    if (isDatabaseRefusal(error) && isExpired) {
      for (const attempt of cycle.attempts) this.#parts.totals.lost(attempt);
      this.#unanswered = null;
    } else this.#unanswered = { ...cycle, resent: true };
  }

  /** Whether the error is one that the caller must see, such as a wrong password. */
  #isFatal(error: unknown): boolean {
    if (WadiError.is(error) && FATAL.includes(error.code)) return true;
    // "unusable": the application has closed the client.
    if (isDatabaseRefusal(error) && (error as DriverError).kind === "unusable") return true;
    return !this.#wasReached && isDatabaseRefusal(error);
  }

  /** Sends a cycle, which is `unanswered` until its outcome is known. */
  async cycle(cycle: Cycle, call: OperationOptions): Promise<CycleAnswer> {
    this.#unanswered = cycle;
    const { settings, totals } = this.#parts;
    const sentAtMs = monotonicMs();
    const answer = await sendCycle(cycle, settings.wadi, totals, call);
    settings.time.answered(monotonicMs() - sentAtMs);
    this.#unanswered = null;
    return answer;
  }
}
