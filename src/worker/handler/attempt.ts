/** The life of one claimed task in this worker: how it starts, and each way in which it can end. */

import type { Backoff } from "../../core/backoff.ts";
import { InvalidArgument, LostLease, QueryLimit, TaskCanceled, TaskError } from "../../core/errors/errors.ts";
import { NEVER } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { ClaimedTask, ClaimResult } from "../../core/operations/claim-result.ts";
import type { LeaseRef, LeaseRenewal } from "../../core/operations/lease.ts";
import type { Outcome, Settlement } from "../../core/operations/settle.ts";
import type { Task } from "../../core/task.ts";
import { integer, MAX_DELAY_MS } from "../../core/validate.ts";
import type { WadiInternals } from "../../producer/internals.ts";
import type { ClaimLease } from "./claim-lease.ts";
import { type FailOptions, failureOf } from "./ctx-fail.ts";
import { ExternalSettlement } from "./external-settlement.ts";
import type { AttemptTime, HandlerSlots } from "./handler-slots.ts";
import { completed, delayOf, failed, failedAs, RELEASED, snoozed, timedOut } from "./make-outcome.ts";
import type { QueryShare } from "./query-share.ts";
import { SettledTaskWait } from "./settled-task.ts";

/** The drain that holds an attempt, as the attempt sees it. */
export interface AttemptOwner {
  readonly wadi: WadiInternals;
  readonly backoff: Backoff;
  readonly leaseMs: number;
  readonly time: AttemptTime;
  /** The share of the drain's queries that one attempt may send. */
  newShare(): QueryShare;
  /** Called once, when the attempt has ended: `attempt.settlement` is to be stored, null if the lease is lost. */
  ended(attempt: Attempt): void;
  /** Called instead of `ended` when the success was stored together with statements of the application. */
  settledExternally(attempt: Attempt): void;
  /** Called with an error that the handler threw although the attempt has another outcome. */
  threwLate(attempt: Attempt, thrown: unknown): void;
}

/** The handler call that an attempt is part of. */
export interface AttemptCall {
  /** On the monotonic clock, as is `expiresAtMs`. */
  readonly startedAtMs: number;
  /** When its time is up. */
  readonly expiresAtMs: number;
  /** Whether the handler has returned or was cut off. */
  readonly hasReturned: boolean;
  /** Called when one of the call's attempts has ended. */
  attemptEnded(): void;
}

/**
 * One claimed task that this worker holds, from its claim until its outcome is known. It ends exactly once: outcomes
 * that come later are ignored. Only the attempt writes its fields.
 */
export class Attempt implements LeaseRef {
  readonly owner: AttemptOwner;
  readonly task: Task;
  /** The handler of its task name, and the slots of that handler. */
  readonly handler: HandlerSlots;
  readonly lease: ClaimLease;
  /** Length of its payload as JSON. */
  readonly bytes: number;
  /** Key of its fleet-wide limit; empty if it has none. */
  readonly limitKey: string;
  /** Whether the database counts it as not started: it must not start before a settlement has announced it. */
  isOnHold: boolean;
  /** From its due time to its claim, in milliseconds. */
  readonly queuedMs: number;
  /** Counts the statements that its handler sends through the context. */
  readonly meter: QueryShare;
  /** The call it is part of; null before it starts. */
  call: AttemptCall | null = null;
  /** On the monotonic clock; 0 before it starts. */
  startedAtMs = 0;
  durationMs = 0;
  /** When its call's time is up, on the monotonic clock; the drain's may be up before. */
  #callEndsAtMs = NEVER;
  /** How it ended; null while it runs and after its lease is lost. */
  settlement: Settlement | null = null;
  canceled = false;
  lost = false;
  hasEnded = false;
  /** Resolves `settled` of the handler's context. */
  readonly settlementResult = new SettledTaskWait();
  #abort: AbortController | null = null;
  /** How it ends once its time is up. */
  #timeout: Outcome | null = null;
  #external: ExternalSettlement | null = null;

  constructor(
    owner: AttemptOwner,
    { task, bytes, limitKey, isOnHold }: ClaimedTask,
    { nowMs }: ClaimResult,
    handler: HandlerSlots,
    lease: ClaimLease,
  ) {
    this.owner = owner;
    this.meter = owner.newShare();
    this.task = task;
    this.handler = handler;
    this.lease = lease;
    this.bytes = bytes;
    this.limitKey = limitKey;
    this.isOnHold = isOnHold;
    this.queuedMs = Math.max(0, nowMs - task.runAtMs);
  }

  get id(): string {
    return this.task.id;
  }

  get workerId(): string {
    return this.lease.workerId;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Created on first use: most handlers never read their signal. */
  get #controller(): AbortController {
    this.#abort ??= new AbortController();
    return this.#abort;
  }

  /** When its time is up and its signal aborts, on the monotonic clock; `Infinity` if its time is not limited. */
  get deadlineMs(): number {
    return Math.min(this.#callEndsAtMs, this.owner.time.stopAtMs);
  }

  /** Starts as part of `call`, and is stopped with it. */
  begin(call: AttemptCall): void {
    this.call = call;
    this.startedAtMs = call.startedAtMs;
    this.#callEndsAtMs = call.expiresAtMs;
  }

  /** The database has stored that it starts. */
  announced(): void {
    this.isOnHold = false;
  }

  /** The database refused the content of the settlement: `settlement` is stored in its place. */
  replaceSettlement(settlement: Settlement): void {
    this.settlement = settlement;
  }

  /** Ends it with `outcome`; null if its lease is lost. */
  end(outcome: Outcome | null): void {
    if (this.hasEnded) return;
    if (this.#external !== null && outcome !== null) {
      this.#external.defer(outcome);
      return;
    }
    this.hasEnded = true;
    if (this.startedAtMs > 0) this.durationMs = monotonicMs() - this.startedAtMs;
    if (outcome !== null) {
      this.settlement = { id: this.id, workerId: this.workerId, attempt: this.task.attempt, ...outcome };
    }
    this.owner.ended(this);
  }

  complete(result: unknown): void {
    if (this.hasEnded) return;
    const outcome = completed(this.task, result, this.owner.wadi.executor);
    if ("thrown" in outcome) this.fail(outcome.thrown);
    else this.end(outcome);
  }

  /** Ends it as failed because its handler threw. */
  fail(thrown: unknown): void {
    if (this.hasEnded) return;
    this.#external?.deferThrown(thrown);
    const { backoff, wadi } = this.owner;
    const outcome = this.#timeout ?? failed(this.task, thrown, backoff, wadi.executor);
    // Other attempts had used up the drain's queries before this one sent any: it is not charged for that.
    this.end(thrown instanceof QueryLimit && this.meter.sent === 0 ? RELEASED : outcome);
  }

  /** Ends it as failed because its handler says so. @throws {InvalidArgument} for an unknown reason or option. */
  failBecause(reason: unknown, options: FailOptions | undefined): void {
    const { backoff, wadi } = this.owner;
    const { error, delayMs } = failureOf(reason, options, wadi.executor);
    this.end(this.#timeout ?? failedAs(this.task, error, delayMs ?? delayOf(reason), backoff));
  }

  /** Ends it because its handler wants to run later, also after its time is up. @throws {InvalidArgument} */
  snooze(delayMs: number): void {
    this.end(snoozed(integer("the delay of snooze", delayMs, 1, MAX_DELAY_MS)));
  }

  /** Returns the task to its queue without spending the attempt. */
  release(): void {
    this.end(RELEASED);
  }

  /** Aborts the handler's signal because its time is up; `cutOff` ends the attempt if the handler does not return. */
  expire(why: string): void {
    const message = `the handler ${why}`;
    if (!this.hasEnded) this.#timeout ??= timedOut(this.task, message, this.owner.backoff);
    this.#controller.abort(new TaskError(message, { code: "handler_timeout" }));
  }

  cutOff(): void {
    this.#external?.giveUp(this.#abort?.signal.reason); // the database may not answer
    this.end(this.#timeout);
  }

  /**
   * Applies the answer of the database about the lease: null if it is lost, else that it is held, perhaps with a
   * requested cancel. The database turns the settlement of a canceled task into a cancel.
   */
  applyRenewal(renewed: LeaseRenewal | null | undefined): void {
    if (!renewed) {
      // The answer to an external settlement says more: the task may be gone because that has settled it.
      if (this.#external === null) this.lose();
      return;
    }
    if (!renewed.cancelRequested || this.canceled || this.hasEnded) return;
    this.canceled = true;
    this.#controller.abort(new TaskCanceled(this.task));
  }

  /** Another worker may have the task: nothing of this attempt may be stored any more. */
  lose(): void {
    this.lost = true;
    const reason = new LostLease(this.id);
    this.#controller.abort(reason);
    this.#external?.giveUp(reason);
    this.end(null);
  }

  /** @throws {LostLease} if another worker may have the task. */
  requireLease(): void {
    if (this.lost) throw new LostLease(this.id);
  }

  /**
   * The caller stores the settlement, together with something else. Until it commits or abandons that, the attempt ends
   * only if its lease is lost; any other outcome is deferred. Aborts the returned signal when the caller is to give up.
   *
   * @throws {InvalidArgument} if the attempt has ended, or is being settled externally already.
   */
  beginExternalSettlement(): AbortSignal {
    if (this.hasEnded || this.#external !== null) {
      throw new InvalidArgument(
        `succeedWith was called on task ${this.id}, whose attempt has ended or is ended by another succeedWith; ` +
          "call it once, instead of succeed or fail",
      );
    }
    this.#external = new ExternalSettlement();
    return this.#external.signal;
  }

  /** The external settlement was stored, and the task has succeeded. */
  commitExternalSettlement(): void {
    const external = this.#external;
    this.#external = null;
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.durationMs = monotonicMs() - this.startedAtMs;
    this.owner.settledExternally(this);
    if (external?.thrown) this.owner.threwLate(this, external.thrown.error);
  }

  /** The external settlement was not stored: the attempt goes on, or ends with the outcome that was deferred. */
  abandonExternalSettlement(): void {
    const outcome = this.#external?.outcome ?? null;
    this.#external = null;
    if (outcome !== null) this.end(outcome);
  }
}
