/** Sends polls, each for many waits. */
import type { TaskState } from "../../core/operations/read.ts";
import type { Session } from "../../core/session/session.ts";
import type { EndedTaskReader } from "./ended-task-reader.ts";
import type { PendingWait, WaitRef } from "./pending-wait.ts";
import { readStates } from "./read-states.ts";
import { SharedRequest } from "./shared-request.ts";

/** What the poller reports of a poll, for each wait that it was for and that is still open. */
export interface PollListener {
  onStates(wait: PendingWait, states: ReadonlyMap<WaitRef, TaskState | null>, poll: number): void;
  onError(wait: PendingWait, error: unknown): void;
}

/** How long a poll holds back the next one: its connection may be dead, while others are not. */
const OVERLAP_MS = 1000;

/**
 * Sends the polls of all waits of one client: one statement for all that are due or nearly so, and one in flight at a
 * time.
 */
export class Poller {
  readonly #session: Session;
  readonly #reader: EndedTaskReader;
  readonly #waits: ReadonlySet<PendingWait>;
  readonly #listener: PollListener;
  readonly #due = new Set<PendingWait>();
  readonly #inFlight = new Set<SharedRequest>();
  #isScheduled = false;
  #busyUntilMs = 0;
  #polls = 0;

  /** @param waits All that are open, as the owner of the set keeps it. */
  constructor(
    session: Session,
    reader: EndedTaskReader,
    waits: ReadonlySet<PendingWait>,
    listener: PollListener,
  ) {
    this.#session = session;
    this.#reader = reader;
    this.#waits = waits;
    this.#listener = listener;
  }

  /** Requests sent so far. */
  get sent(): number {
    return this.#polls;
  }

  /** Polls for this wait, together with all that are due at this moment. */
  request(wait: PendingWait, nowMs: number): void {
    wait.polledUntil(nowMs + OVERLAP_MS);
    this.#due.add(wait);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#flush());
  }

  /** The wait is closed. */
  forget(wait: PendingWait): void {
    this.#due.delete(wait);
    for (const request of this.#inFlight) request.leave(wait);
  }

  #flush(): void {
    this.#isScheduled = false;
    this.#reader.flush();
    if (this.#due.size === 0) return;
    const nowMs = performance.now();
    if (nowMs < this.#busyUntilMs) return;
    const refs: WaitRef[] = [];
    const waits: PendingWait[] = [];
    for (const wait of this.#waits) {
      if (wait.isPaused || !(this.#due.has(wait) || wait.pace.isNear(nowMs))) continue;
      const unread = this.#refsToPoll(wait, nowMs);
      if (unread.length === 0) continue;
      waits.push(wait);
      for (const ref of unread) refs.push(ref);
    }
    this.#due.clear();
    if (waits.length > 0) void this.#poll(waits, refs, nowMs);
  }

  /** The references whose states are to be read. The last poll of a wait for one task reads its row instead. */
  #refsToPoll(wait: PendingWait, nowMs: number): WaitRef[] {
    if (wait.pace.isOver(nowMs)) wait.finalPollSent();
    if (wait.isFinal && wait.kind === "one" && !this.#reader.isReading(wait.firstRef)) {
      const { ref } = wait.firstRef;
      this.#reader.add(wait.firstRef, "id" in ref ? ref.id : null);
      return [];
    }
    const unread: WaitRef[] = [];
    for (const ref of wait.refs) {
      // The request that reads its row may have ended with the invocation of a platform.
      if (this.#reader.isReading(ref)) this.#reader.again(ref, nowMs - OVERLAP_MS);
      else unread.push(ref);
    }
    return unread;
  }

  async #poll(waits: readonly PendingWait[], refs: readonly WaitRef[], sentAtMs: number): Promise<void> {
    const poll = ++this.#polls;
    // Each one without an answer holds the next back for twice as long: a silent database is not polled at every turn.
    const busyUntilMs = sentAtMs + OVERLAP_MS * 2 ** Math.min(this.#inFlight.size, 4);
    this.#busyUntilMs = busyUntilMs;
    const request = new SharedRequest(waits, sentAtMs);
    this.#inFlight.add(request);
    let states: ReadonlyMap<WaitRef, TaskState | null> | undefined;
    let failure: unknown;
    try {
      states = await readStates(this.#session, refs, request.call);
    } catch (error) {
      failure = error;
    }
    this.#inFlight.delete(request);
    if (this.#busyUntilMs === busyUntilMs) this.#busyUntilMs = 0;
    for (const wait of waits) {
      if (!wait.isOpen || wait.lastPoll > poll) continue;
      if (states === undefined) this.#listener.onError(wait, failure);
      else this.#listener.onStates(wait, states, poll);
    }
    this.#flush();
  }
}
