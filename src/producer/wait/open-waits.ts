/** The waits of one client, whatever method began them. */

import { type Backoff, backoffDelay } from "../../core/backoff.ts";
import { WadiError } from "../../core/errors/errors.ts";
import { NEVER, NO_LIMIT } from "../../core/infinity.ts";
import type { TaskRef, TaskState } from "../../core/operations/read.ts";
import type { Session } from "../../core/session/session.ts";
import { isTerminal, type Task } from "../../core/task.ts";
import type { Notifier } from "../notify/notifier.ts";
import { type EndedTaskListener, EndedTaskReader } from "./ended-task-reader.ts";
import { PendingWait, type WaitEvents, type WaitKind, type WaitRef } from "./pending-wait.ts";
import { PollPace, type PollPaceOptions } from "./poll-pace.ts";
import { Poller, type PollListener } from "./poller.ts";
import { GRACE_MS } from "./shared-request.ts";

/** Pauses of a wait while the database fails. */
const OUTAGE: Backoff = { baseMs: 100, capMs: 2000 };

/**
 * All waits of one client: opens and closes them, decides when each polls, and reports what polls and notifications
 * brought. Each wait sleeps on its own timer, so that it goes on although the request that another wait belongs to was
 * ended by its platform.
 */
export class OpenWaits implements PollListener, EndedTaskListener {
  readonly #session: Session;
  readonly #notifier: Notifier;
  readonly #reader: EndedTaskReader;
  readonly #poller: Poller;
  readonly #waits = new Set<PendingWait>();
  readonly #maxQueries: number;

  constructor(session: Session, notifier: Notifier) {
    this.#session = session;
    this.#notifier = notifier;
    this.#reader = new EndedTaskReader(session, this);
    this.#poller = new Poller(session, this.#reader, this.#waits, this);
    // The other half is for what the invocation sends in addition to its waits.
    this.#maxQueries = (session.executor.limits.maxQueries ?? NO_LIMIT) / 2;
    notifier.onGap(() => this.#onGap());
  }

  /** Begins a wait. A paused one only subscribes to the ends of its ids, until `resume`. */
  open(
    kind: WaitKind,
    refs: readonly TaskRef[],
    options: PollPaceOptions,
    events: WaitEvents,
    isPaused = false,
  ): PendingWait {
    const pace = new PollPace(options, performance.now(), this.#maxQueries);
    const wait = new PendingWait({ kind, refs, pace, events, sentBefore: this.#sent, isPaused });
    this.#waits.add(wait);
    for (const ref of wait.refs) if ("id" in ref.ref) this.#follow(ref, ref.ref.id);
    void this.#drive(wait);
    return wait;
  }

  /** Goes on with a paused wait, after a pause since its last poll or, if there was none, from now. */
  resume(wait: PendingWait): void {
    if (!wait.isOpen) return;
    wait.resume(performance.now());
    if (wait.lastPoll === 0) this.#rest(wait);
    wait.reschedule();
  }

  close(wait: PendingWait): void {
    if (!wait.isOpen) return;
    this.#waits.delete(wait);
    this.#reader.forget(wait);
    this.#poller.forget(wait);
    wait.close();
  }

  /** The database's time as far as it is known, in epoch milliseconds. */
  get nowMs(): number {
    return this.#session.target.nowMs ?? Date.now();
  }

  get #sent(): number {
    return this.#poller.sent + this.#reader.sent;
  }

  async #drive(wait: PendingWait): Promise<void> {
    while (wait.isOpen) {
      const nowMs = performance.now();
      for (const ref of wait.takeNotified()) this.#onNotified(ref, nowMs);
      const latestMs = wait.isPaused ? NEVER : wait.endMs + GRACE_MS;
      if (nowMs >= latestMs) {
        this.#timeOut(wait, null, wait.error ?? this.#noAnswer());
        return;
      }
      if (!wait.isPaused && nowMs >= wait.nextPollAtMs) this.#poller.request(wait, nowMs);
      await wait.sleep(wait.isPaused ? latestMs : Math.min(wait.nextPollAtMs, latestMs) - nowMs);
    }
  }

  #noAnswer(): unknown {
    const late = new Error("no answer came in time");
    return this.#session.driverError("getStatus", "unknown", late);
  }

  onStates(wait: PendingWait, states: ReadonlyMap<WaitRef, TaskState | null>, poll: number): void {
    wait.answered(poll);
    let isMoved = false;
    for (const ref of [...wait.refs]) {
      const state = states.get(ref);
      if (state === undefined || this.#reader.isReading(ref)) continue;
      if (wait.kind === "changes") wait.events.seen!(state);
      else if (state !== null && isTerminal(state.status)) this.#reader.add(ref, state.id);
      if (state !== null && this.#follow(ref, state.id)) isMoved = true;
    }
    if (!wait.isOpen) return;
    this.#rest(wait);
    // An end between the poll and the subscription was reported to no one.
    if (isMoved && this.#notifier.doneState !== "local") wait.pace.hasten(performance.now(), 0);
    if (wait.isFinal) this.#finish(wait);
    wait.reschedule();
  }

  onRow(ref: WaitRef, task: Task | null): void {
    const { wait } = ref;
    wait.answered();
    if (task !== null && isTerminal(task.status) && wait.kind !== "changes") {
      wait.settle(ref);
      if (wait.refs.size === 0) this.close(wait);
      wait.events.ended(ref, task);
      if (wait.isOpen && wait.isFinal) this.#finish(wait);
      return;
    }
    if (wait.isFinal && wait.kind !== "many") {
      this.#timeOut(wait, task, undefined);
      return;
    }
    if (wait.isFinal) this.#finish(wait);
    // The notification came early, the task was retried, or the key points at another task by now.
    else if (task !== null && this.#follow(ref, task.id) && this.#notifier.doneState !== "local") {
      wait.pace.hasten(performance.now(), 0);
    }
    wait.reschedule();
  }

  /** Its last poll was answered: what is missing now stays missing, except rows that are still being read. */
  #finish(wait: PendingWait): void {
    if (wait.kind === "many") {
      if (![...wait.refs].some((ref) => this.#reader.isReading(ref))) this.#timeOut(wait, null, undefined);
    } else if (!wait.isPaused && !this.#reader.isReading(wait.firstRef))
      this.#reader.add(wait.firstRef, wait.firstRef.id);
  }

  /** A failure that may pass is waited out, as long as the wait lasts. */
  onError(wait: PendingWait, error: unknown): void {
    if (!WadiError.is(error) || !error.retryable) {
      this.close(wait);
      wait.events.failed(error);
      return;
    }
    wait.keepError(error);
    if (wait.isFinal) {
      this.#timeOut(wait, null, error);
      return;
    }
    this.#rest(wait);
    wait.pace.delay(performance.now(), backoffDelay(OUTAGE, wait.countFailure()));
    wait.reschedule();
  }

  #timeOut(wait: PendingWait, task: Task | null, error: unknown): void {
    this.close(wait);
    wait.events.timedOut(task, error);
  }

  #rest(wait: PendingWait): void {
    const isNotified = wait.kind !== "changes" && this.#notifier.doneState === "listening";
    const isPushed = isNotified && [...wait.refs].every(({ id }) => id !== null);
    wait.pace.rest(performance.now(), this.#sent - wait.sentBefore, isPushed);
  }

  /** Subscribes to the end of the task of a reference. True if it is another one than before. */
  #follow(ref: WaitRef, id: string): boolean {
    return ref.follow(id, () => this.#notifier.subscribe(id, () => ref.wait.notify(ref)));
  }

  /** Reads a task whose end was reported, or polls for it. */
  #onNotified(ref: WaitRef, nowMs: number): void {
    const { wait } = ref;
    if (this.#reader.isReading(ref) || !wait.refs.has(ref)) return;
    if (wait.kind !== "changes" && "id" in ref.ref) this.#reader.add(ref, ref.ref.id);
    else if (wait.kind === "one")
      this.#reader.add(ref, null); // a replace ends a task too, and moves the key
    else {
      // Ends that come together share a poll.
      wait.pace.hasten(nowMs, wait.kind === "changes" ? 0 : wait.refs.size / 10);
      wait.polledUntil(wait.pace.dueAtMs);
    }
  }

  /** Ends may have been missed, or will not be reported any more. */
  #onGap(): void {
    const nowMs = performance.now();
    for (const wait of this.#waits) {
      if (this.#notifier.doneState === "listening") wait.pace.hasten(nowMs, 0);
      else wait.pace.resume(nowMs);
      wait.reschedule();
    }
  }
}
