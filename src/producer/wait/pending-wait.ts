/** The state of one wait, from its call until it ends. */
import type { TaskRef, TaskState } from "../../core/operations/read.ts";
import type { Task } from "../../core/task.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import { AwaitedRef } from "./awaited-ref.ts";
import type { PollPace } from "./poll-pace.ts";

/** One id or key of a wait. */
export type WaitRef = AwaitedRef<PendingWait>;

/** What a wait reports to the method that began it. Nothing follows `timedOut`, `failed` and the last `ended`. */
export interface WaitEvents {
  /** Every state that is read of a watched task; null if there is no task. */
  seen?(state: TaskState | null): void;
  /** The task of one reference is terminal. */
  ended(ref: WaitRef, task: Task): void;
  /** `task` is as last seen; `error` says why the database could not be read at the end, if it could not. */
  timedOut(task: Task | null, error: unknown): void;
  failed(error: unknown): void;
}

/**
 * - `one`: the end of one task; its row is read when the time is up.
 * - `many`: the ends of many tasks.
 * - `changes`: each state of one task.
 */
export type WaitKind = "one" | "many" | "changes";

export interface PendingWaitOptions {
  readonly kind: WaitKind;
  readonly refs: readonly TaskRef[];
  readonly pace: PollPace;
  readonly events: WaitEvents;
  /** How many requests its loop had sent when it began. */
  readonly sentBefore: number;
  readonly isPaused: boolean;
}

/** One wait while it is open: the tasks it is for, its pace, and the timer it sleeps on. */
export class PendingWait {
  readonly kind: WaitKind;
  readonly pace: PollPace;
  readonly events: WaitEvents;
  readonly sentBefore: number;
  readonly #refs = new Set<WaitRef>();
  readonly #notified = new Set<WaitRef>();
  #isOpen = true;
  #isPaused: boolean;
  #resumedAtMs = 0;
  #isFinal = false;
  #failures = 0;
  #error: unknown;
  #lastPoll = 0;
  #nextPollAtMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wake: () => void = () => {};

  constructor({ kind, refs, pace, events, sentBefore, isPaused }: PendingWaitOptions) {
    this.kind = kind;
    this.pace = pace;
    this.events = events;
    this.sentBefore = sentBefore;
    this.#isPaused = isPaused;
    this.#nextPollAtMs = pace.dueAtMs;
    for (const ref of refs) this.#refs.add(new AwaitedRef(this, ref));
  }

  /** What it still waits for. */
  get refs(): ReadonlySet<WaitRef> {
    return this.#refs;
  }

  /** Its only reference, unless it waits for many. */
  get firstRef(): WaitRef {
    const [ref] = this.#refs;
    return ref!;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Not polled: its task is not submitted yet, or the caller has not asked for the next change. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Whether its last poll, the one after its time was up, was sent. */
  get isFinal(): boolean {
    return this.#isFinal;
  }

  /** When its time is up, on the monotonic clock; not before it was resumed. */
  get endMs(): number {
    return Math.max(this.pace.endMs, this.#resumedAtMs);
  }

  /** The error of its last poll; undefined once a poll has succeeded. */
  get error(): unknown {
    return this.#error;
  }

  /** The number of the newest poll whose answer it has seen; 0: none. */
  get lastPoll(): number {
    return this.#lastPoll;
  }

  /** When it asks for a poll, on the monotonic clock; later while one is in flight. */
  get nextPollAtMs(): number {
    return this.#nextPollAtMs;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(nowMs: number): void {
    this.#isPaused = false;
    this.#resumedAtMs = nowMs;
  }

  /** The task of a reference has ended, so it is no longer waited for. */
  settle(ref: WaitRef): void {
    this.#refs.delete(ref);
    ref.unsubscribe();
  }

  /** The end of the task of a reference was reported. Only wakes the wait, which then sends from its own request. */
  notify(ref: WaitRef): void {
    if (!this.#isOpen) return;
    this.#notified.add(ref);
    this.wake();
  }

  /** The references that were notified since the last call. */
  takeNotified(): WaitRef[] {
    if (this.#notified.size === 0) return [];
    const refs = [...this.#notified];
    this.#notified.clear();
    return refs;
  }

  /** A poll is requested; it is requested again if there is no answer by then. */
  polledUntil(nextPollAtMs: number): void {
    this.#nextPollAtMs = nextPollAtMs;
  }

  finalPollSent(): void {
    this.#isFinal = true;
  }

  /** The database answered: a poll by its number, or the read of a row. */
  answered(poll = this.#lastPoll): void {
    this.#lastPoll = poll;
    this.#failures = 0;
    this.#error = undefined;
  }

  /** A poll has failed. Returns how many in a row. */
  countFailure(): number {
    return ++this.#failures;
  }

  keepError(error: unknown): void {
    this.#error = error;
  }

  /** Takes over from its pace when the next poll is due. */
  reschedule(): void {
    this.#nextPollAtMs = this.pace.dueAtMs;
    this.wake();
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (ms <= MAX_TIMER_MS) this.#timer = setTimeout(resolve, Math.max(0, Math.ceil(ms)));
    });
  }

  wake(): void {
    clearTimeout(this.#timer);
    this.#wake();
  }

  close(): void {
    this.#isOpen = false;
    for (const ref of this.#refs) ref.unsubscribe();
    this.wake();
  }
}
