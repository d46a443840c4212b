import type { Backoff } from "../../core/backoff.ts";
import { monotonicMs, toEpochMs } from "../../core/clock.ts";
import { InvalidArgument, LostLease, QueryLimit, TaskCanceled, TaskError } from "../../core/errors/errors.ts";
import { encodeJson } from "../../core/json/json.ts";
import type { ClaimResult } from "../../core/operations/claim-result.ts";
import type { LeaseRef, LeaseRenewal } from "../../core/operations/lease.ts";
import type { Outcome, Settlement } from "../../core/operations/settle.ts";
import type { SubmittedTask } from "../../core/operations/submit.ts";
import type { Task, TaskStatus } from "../../core/task.ts";
import { fraction } from "../../core/validate.ts";
import type { AnyTaskDefinition } from "../../producer/define-task.ts";
import type { SubmitOptions } from "../../producer/submit/submit-options.ts";
import type { Wadi } from "../../producer/wadi.ts";
import type { UserStatement } from "../task-context.ts";
import { type FailOptions, failureOf } from "./fail-reason.ts";
import type { HandlerSlots } from "./handler-slots.ts";
import type { Lease } from "./lease.ts";
import { completed, delayOf, failed, failedAs, RELEASED, timedOut } from "./outcome.ts";
import type { QueryShare } from "./query-share.ts";
import { type SettledTask, SettlementResult } from "./settlement-result.ts";
import { commitSuccess } from "./succeed-with.ts";
import { validate } from "./validate.ts";

/** Whose attempts they are. */
export interface AttemptOwner {
  readonly wadi: Wadi;
  readonly backoff: Backoff;
  readonly leaseMs: number;
  /** The part of the drain's queries that one attempt sends. */
  newShare(): QueryShare;
  /** Called once. `attempt.settlement` is what is to be stored; null if the lease is lost. */
  ended(attempt: Attempt): void;
  /** Called instead of `ended` where somebody else has stored what became of the task. */
  settledExternally(attempt: Attempt, status: TaskStatus): void;
  /** Called with what the handler threw although the attempt has another outcome. */
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
  /** One of its attempts has ended. */
  attemptEnded(): void;
}

/** One claimed task in this worker's hands. Ends exactly once; whatever comes later is ignored. */
export class Attempt implements LeaseRef {
  readonly task: Task;
  /** The name it belongs to, in its pool. */
  readonly member: HandlerSlots;
  readonly lease: Lease;
  /** Length of its payload as JSON. */
  readonly bytes: number;
  /** What limits it over the whole fleet; empty if by nothing. */
  readonly limitKey: string;
  /** Whether the database takes it for not started, so that it must not start before that is announced. */
  isHeld: boolean;
  /** From its due time to its claim, in milliseconds. */
  readonly queuedMs: number;
  /** The call it is in; null before it starts. */
  call: AttemptCall | null = null;
  /** 0 before it starts. */
  startedAtMs = 0;
  durationMs = 0;
  /** When it is cut off, on the monotonic clock. */
  deadlineMs = Number.POSITIVE_INFINITY;
  /** How it ended; null while it runs and after its lease is lost. */
  settlement: Settlement | null = null;
  canceled = false;
  lost = false;
  hasEnded = false;
  readonly #owner: AttemptOwner;
  #abort: AbortController | null = null;
  #abortReason: unknown;
  /** How it ends once its time is up. */
  #timeout: Outcome | null = null;
  /** Whether somebody else is storing the settlement, and how the attempt ended meanwhile. */
  #elsewhere = false;
  #meanwhile: Outcome | null = null;
  /** What the handler threw meanwhile. */
  #thrownMeanwhile: { readonly thrown: unknown } | null = null;
  #giveUp: AbortController | null = null;
  readonly settlementResult = new SettlementResult();
  /** Counts what its handler sends through the context. */
  readonly meter: QueryShare;

  constructor(
    owner: AttemptOwner,
    { tasks, bytes, limitKeys, onHold, nowMs }: ClaimResult,
    index: number,
    member: HandlerSlots,
    lease: Lease,
  ) {
    this.#owner = owner;
    this.meter = owner.newShare();
    this.task = tasks[index]!;
    this.member = member;
    this.lease = lease;
    this.bytes = bytes[index]!;
    this.limitKey = limitKeys[index]!;
    this.isHeld = onHold[index]!;
    this.queuedMs = Math.max(0, nowMs - this.task.runAtMs);
  }

  get id(): string {
    return this.task.id;
  }

  get workerId(): string {
    return this.lease.workerId;
  }

  /** Made for those who look at it. */
  get signal(): AbortSignal {
    if (this.#abort === null) {
      this.#abort = new AbortController();
      if (this.#abortReason !== undefined) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  /** Starts in `call`; its time is up when the call's is, at `stopAtMs` at the latest. */
  begin(call: AttemptCall, stopAtMs: number): void {
    this.call = call;
    this.startedAtMs = call.startedAtMs;
    this.deadlineMs = Math.min(call.expiresAtMs, stopAtMs);
  }

  /** The database has stored that it starts. */
  announced(): void {
    this.isHeld = false;
  }

  /** The database refused the content of the settlement: `settlement` is stored in its place. */
  replaceSettlement(settlement: Settlement): void {
    this.settlement = settlement;
  }

  #stop(reason: unknown): void {
    this.#abortReason ??= reason;
    this.#abort?.abort(reason);
  }

  end(outcome: Outcome | null): void {
    if (this.hasEnded) return;
    if (this.#elsewhere && outcome !== null) {
      this.#meanwhile = outcome;
      return;
    }
    this.hasEnded = true;
    if (this.startedAtMs > 0) this.durationMs = monotonicMs() - this.startedAtMs;
    if (outcome !== null) {
      this.settlement = { id: this.id, workerId: this.workerId, attempt: this.task.attempt, ...outcome };
    }
    this.#owner.ended(this);
  }

  complete(result: unknown): void {
    if (this.hasEnded) return;
    const outcome = completed(this.task, result, this.#owner.wadi.executor);
    if ("thrown" in outcome) this.fail(outcome.thrown);
    else this.end(outcome);
  }

  fail(thrown: unknown): void {
    if (this.hasEnded) return;
    if (this.#elsewhere) this.#thrownMeanwhile = { thrown };
    const { backoff, wadi } = this.#owner;
    const outcome = this.#timeout ?? failed(this.task, thrown, backoff, wadi.executor);
    // Others have used up the queries before it did anything: that is no attempt.
    this.end(thrown instanceof QueryLimit && this.meter.sent === 0 ? RELEASED : outcome);
  }

  /** Ends it as failed because a handler says so. @throws {InvalidArgument} for a reason or an option that is unknown. */
  failBecause(reason: unknown, options: FailOptions | undefined): void {
    const { backoff, wadi } = this.#owner;
    const { error, delayMs } = failureOf(reason, options, wadi.executor);
    this.end(this.#timeout ?? failedAs(this.task, error, delayMs ?? delayOf(reason), backoff));
  }

  /** Hands the task back without spending the attempt. */
  release(): void {
    this.end(RELEASED);
  }

  /** Tells the handler that its time is up; `cutOff` ends the attempt if it does not come back. */
  expire(why: string): void {
    const message = `the handler ${why}`;
    if (!this.hasEnded) this.#timeout ??= timedOut(this.task, message, this.#owner.backoff);
    this.#stop(new TaskError(message, { code: "handler_timeout" }));
  }

  cutOff(): void {
    this.#giveUp?.abort(this.#abortReason); // of a database that does not answer
    this.end(this.#timeout);
  }

  /**
   * Takes in what the database said of the lease: lost, or held, perhaps with a requested cancel. The settlement
   * will turn into a cancel by itself.
   */
  applyRenewal(renewed: LeaseRenewal | null | undefined): void {
    if (!renewed) {
      // While it is stored elsewhere, what came of that says more than that the task runs no longer.
      if (!this.#elsewhere) this.lose();
      return;
    }
    if (!renewed.cancelRequested || this.canceled || this.hasEnded) return;
    this.canceled = true;
    this.#stop(new TaskCanceled(this.task));
  }

  /** The task belongs to somebody else now: nothing of this attempt may be written any more. */
  lose(): void {
    this.lost = true;
    const reason = new LostLease(this.id);
    this.#stop(reason);
    this.#giveUp?.abort(reason);
    this.end(null);
  }

  /** @throws {LostLease} if another worker may have the task. */
  requireLease(): void {
    if (this.lost) throw new LostLease(this.id);
  }

  /**
   * Leaves the settlement to somebody who stores it together with something else. Until one of the two methods below
   * says how that went, the attempt does not end in any other way but by the loss of its lease.
   */
  beginExternalSettlement(): void {
    this.#elsewhere = true;
  }

  /** It was stored, and this is what the task became. */
  commitExternalSettlement(status: TaskStatus): void {
    this.#elsewhere = false;
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.durationMs = monotonicMs() - this.startedAtMs;
    this.#owner.settledExternally(this, status);
    if (this.#thrownMeanwhile !== null) this.#owner.threwLate(this, this.#thrownMeanwhile.thrown);
  }

  /** It was not stored: the attempt ends as it would have. */
  abandonExternalSettlement(): void {
    this.#elsewhere = false;
    if (this.#meanwhile !== null) this.end(this.#meanwhile);
  }

  get settled(): Promise<SettledTask> {
    const { store } = this.#owner.wadi;
    return this.settlementResult.settled(this.task, () => store.get({ id: this.id }, { meter: this.meter }));
  }

  async progress(value: number | null, message?: string): Promise<void> {
    const progress = fraction("progress", value);
    if (message !== undefined && typeof message !== "string") {
      throw new InvalidArgument(`the message of progress must be a string, got ${typeof message}`);
    }
    this.requireLease();
    // Some clients drop a byte order mark, NUL and lone surrogates are refused by Postgres.
    const text =
      message
        ?.replaceAll("\0", "")
        .replace(/^\ufeff+/, "")
        .toWellFormed() ?? null;
    const { store } = this.#owner.wadi;
    this.applyRenewal(await store.progress(this, { progress, message: text }, { meter: this.meter }));
    this.requireLease();
  }

  async heartbeat(): Promise<{ readonly canceled: boolean }> {
    this.requireLease();
    const { wadi, leaseMs } = this.#owner;
    this.applyRenewal((await wadi.store.heartbeat([this], leaseMs, { meter: this.meter }))[0]);
    this.requireLease();
    return { canceled: this.canceled };
  }

  async submit(
    child: string | AnyTaskDefinition,
    payload: unknown,
    options?: SubmitOptions,
  ): Promise<SubmittedTask> {
    this.requireLease();
    const { id, rootId, correlationId } = this.task;
    // Itself, and not a copy: children of one tick that have the same parent share a round trip.
    const lineage = { parentId: id, rootId: rootId ?? id, correlationId, held: this };
    try {
      return await this.#owner.wadi.submitFrom(lineage, child, payload, options);
    } catch (error) {
      if (error instanceof LostLease) this.lose();
      throw error;
    }
  }

  async succeedWith<Result>(statements: readonly UserStatement[], result: Result): Promise<Result> {
    const { wadi } = this.#owner;
    const what = `the result of ${this.task.name}`;
    const schema = this.member.registration.result;
    const given = result === undefined ? null : result;
    const value = schema === null ? given : await validate(schema, "result", this.task, given);
    const resultJson = encodeJson(value, what, wadi.executor);
    this.requireLease();
    if (this.hasEnded || this.#elsewhere) {
      throw new InvalidArgument(`succeedWith was called after the attempt on task ${this.id} ended`);
    }
    this.beginExternalSettlement();
    this.#giveUp = new AbortController();
    try {
      const { signal } = this.#giveUp;
      const deadlineMs = Number.isFinite(this.deadlineMs) ? toEpochMs(this.deadlineMs) : undefined;
      const call = { meter: this.meter, deadlineMs, signal };
      await commitSuccess(wadi.store, this.task, statements, resultJson, call);
    } catch (error) {
      if (error instanceof LostLease) this.lose();
      if (error instanceof TaskCanceled) this.applyRenewal({ id: this.id, cancelRequested: true });
      this.abandonExternalSettlement();
      throw error;
    }
    this.commitExternalSettlement("succeeded");
    return result;
  }
}
