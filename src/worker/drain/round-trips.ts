import { type Backoff, backoffDelay } from "../../core/backoff.ts";
import { monotonicMs, toEpochMs } from "../../core/clock.ts";
import { type DriverError, isRefusal, WadiError } from "../../core/errors/errors.ts";
import type { ClaimRequest } from "../../core/operations/claim.ts";
import type { ClaimResult } from "../../core/operations/claim-result.ts";
import type { SettleResult } from "../../core/operations/settle.ts";
import type { CallOptions } from "../../core/session/call-options.ts";
import type { QueryMeter } from "../../core/session/query-meter.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import type { Attempt } from "../handler/attempt.ts";
import { report } from "../hooks.ts";
import { startOf } from "./crash-isolation.ts";
import type { DrainSettings } from "./drain-options.ts";
import { refusesContent, settleByHalves } from "./settle-by-halves.ts";
import type { Tally } from "./tally.ts";

/** What one round trip settles and claims. */
export interface Cycle {
  readonly attempts: readonly Attempt[];
  /** Held tasks whose start it announces. */
  readonly starts: readonly Attempt[];
  /** Null: it only settles. */
  readonly request: ClaimRequest | null;
  /** Of the outlook when it was composed. */
  readonly version: number;
  /** When it was sent first: no lease of it ends later than counted from here. */
  readonly sentAtMs: number;
  /** Whether it was sent before and may have been committed. */
  resent: boolean;
}

/** What would be lost with a drain that fails. */
interface Held {
  readonly isEmpty: boolean;
  readonly outbox: { readonly length: number };
}

/** What an answer may take in a drain that begins when its time is nearly up. */
const GRACE_MS = 1000;
/** Shortest and longest time an endless drain waits for an answer before it counts as lost. */
const ANSWER_MS = [1000, 30_000] as const;
/** Pauses of an endless drain whose database fails. */
const OUTAGE: Backoff = { baseMs: 200, capMs: 5000 };

/** How long an endless drain that was stopped tries to reach its database, beyond the grace of its handlers. */
const LAST_TRIES_MS = 1500;

/** Errors that no later try would mend. */
const FATAL = ["PROTOCOL_VERSION_MISMATCH", "SCHEMA_MISMATCH"];

/**
 * The round trips of a drain, one at a time. One that fails is survived, and what it cannot know the outcome of is sent
 * again, until the time is up. Only a drain that is not endless and holds nothing fails with it: nothing is lost then.
 */
export class RoundTrips {
  isBusy = false;
  answeredAtMs = 0;
  /** Failed round trips in a row. */
  failures = 0;
  /** No round trip before this. */
  retryAtMs = 0;
  /** Sent, and it is not known what came of it. */
  unanswered: Cycle | null = null;
  /** What ends the drain. */
  failure: { readonly error: unknown } | null = null;
  #lastError: unknown;
  /** After this no answer is waited for. */
  endAtMs: number;
  readonly #plan: DrainSettings;
  readonly #tally: Tally;
  readonly #held: Held;
  readonly #meter: QueryMeter;
  readonly #onAnswer: () => void;
  #wasReached = false;
  #lastTryAtMs = Number.POSITIVE_INFINITY;
  /** Gives up the request that is on its way. */
  readonly #giveUp = new AbortController();
  #giveUpTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(plan: DrainSettings, tally: Tally, held: Held, meter: QueryMeter, onAnswer: () => void) {
    this.#plan = plan;
    this.#tally = tally;
    this.#held = held;
    this.#meter = meter;
    this.#onAnswer = onAnswer;
    this.endAtMs = Math.max(plan.deadlineMs, monotonicMs() + GRACE_MS);
  }

  /** An endless drain was stopped: handlers may go on for `graceMs`, and what they end with is sent for a while longer. */
  endSoon(nowMs: number, graceMs: number): void {
    this.#lastTryAtMs = nowMs + LAST_TRIES_MS;
    this.endAtMs = this.#lastTryAtMs + graceMs;
    const { store } = this.#plan.wadi;
    const late = store.session.driverError(
      "stop",
      "unknown",
      new Error("no answer came before the worker had to stop"),
    );
    const giveUp = () => this.#giveUp.abort(late);
    this.#giveUpTimer = setTimeout(giveUp, Math.min(LAST_TRIES_MS + graceMs, MAX_TIMER_MS));
  }

  close(): void {
    clearTimeout(this.#giveUpTimer);
  }

  /** Whether a drain whose round trips fail tries no longer. One that has nothing to settle does so sooner. */
  givesUp(nowMs: number): boolean {
    const isOver = nowMs >= (this.#owes ? this.endAtMs : Math.min(this.endAtMs, this.#lastTryAtMs));
    if (isOver && this.#plan.endless === null) this.failure = { error: this.#lastError };
    return isOver;
  }

  /** Whether there is something to settle. */
  get #owes(): boolean {
    return this.#held.outbox.length > 0 || (this.unanswered?.attempts.length ?? 0) > 0;
  }

  /** Whether something would be lost if no further round trip were made. */
  get #holds(): boolean {
    return !this.#held.isEmpty || this.#owes;
  }

  /** Makes a round trip. Never throws. */
  send(operation: string, trip: (call: CallOptions) => Promise<void>): void {
    this.isBusy = true;
    this.#send(operation, trip).then(this.#onAnswer, (error) => this.fault(error));
  }

  /** Ends the drain with an error that is not the database's. */
  fault(error: unknown): void {
    this.isBusy = false;
    this.failure ??= { error };
    this.#onAnswer();
  }

  async #send(operation: string, trip: (call: CallOptions) => Promise<void>): Promise<void> {
    try {
      await trip(this.#call());
      this.failures = 0;
      this.retryAtMs = 0;
      this.#wasReached = true;
    } catch (error) {
      this.#survive(error, operation);
    }
    this.isBusy = false;
    this.answeredAtMs = monotonicMs();
  }

  #call(): CallOptions {
    const meter = this.#meter;
    if (this.#plan.endless === null && !this.#holds) return { deadlineMs: toEpochMs(this.endAtMs), meter };
    const [least, most] = ANSWER_MS;
    const waitMs = Math.min(most, Math.max(least, this.#plan.leaseMs / 3));
    const deadlineMs = toEpochMs(Math.min(this.endAtMs, monotonicMs() + waitMs));
    return { deadlineMs, signal: this.#giveUp.signal, meter };
  }

  #survive(error: unknown, operation: string): void {
    const isLastTry = this.#plan.endless === null && !this.#holds;
    if (isLastTry || this.#isFatal(error)) {
      this.failure = { error };
      return;
    }
    this.#lastError = error;
    report(this.#plan.hooks, error, operation);
    this.retryAtMs = monotonicMs() + backoffDelay(OUTAGE, ++this.failures);
    if (this.unanswered === null) return;
    this.unanswered.resent = true;
    // What is refused for good must not hold up the rest for longer than its leases last.
    const isOver = this.unanswered.attempts.every(({ lease }) => lease.endsAtMs <= this.retryAtMs);
    if (!isRefusal(error) || !isOver) return;
    for (const attempt of this.unanswered.attempts) this.#tally.lose(attempt);
    this.unanswered = null;
  }

  /** What a worker should not hide from whoever starts it, such as a wrong password. */
  #isFatal(error: unknown): boolean {
    if (WadiError.is(error) && FATAL.includes(error.code)) return true;
    if (isRefusal(error) && (error as DriverError).kind === "unusable") return true; // its owner closed the client
    return !this.#wasReached && isRefusal(error);
  }

  /** Sends a cycle, which stays `unanswered` until it is known what came of it. */
  async cycle(
    cycle: Cycle,
    call: CallOptions,
  ): Promise<[settled: readonly SettleResult[], claimed: ClaimResult | null]> {
    this.unanswered = cycle;
    const answer = await this.#exchange(cycle, call);
    this.unanswered = null;
    return answer;
  }

  async #exchange(
    { attempts, starts, request, resent }: Cycle,
    call: CallOptions,
  ): ReturnType<RoundTrips["cycle"]> {
    const { store } = this.#plan.wadi;
    const settlements = [...attempts.map(({ settlement }) => settlement!), ...starts.map(startOf)];
    this.#tally.roundTrips++;
    try {
      if (request !== null) return await store.settleAndClaim(settlements, request, call, resent);
      return [await store.settle(settlements, call, resent), null];
    } catch (error) {
      if (!refusesContent(error) || attempts.length === 0) throw error;
    }
    const settled = await settleByHalves(attempts, (some) => {
      this.#tally.roundTrips++;
      return store.settle(some, call, resent);
    });
    if (request === null) return [settled, null];
    this.#tally.roundTrips++;
    return [settled, await store.claim(request, call)];
  }
}
