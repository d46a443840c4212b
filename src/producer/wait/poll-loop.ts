import { type Backoff, backoffDelay } from "../../core/backoff.ts";
import { WadiError } from "../../core/errors/errors.ts";
import type { TaskRef, TaskState } from "../../core/operations/read.ts";
import type { Store } from "../../core/session/store.ts";
import { isTerminal, type Task } from "../../core/task.ts";
import type { Notifier } from "../notify/notifier.ts";
import { type OpenRef, OpenWait, type WaitEvents, type WaitKind } from "./open-wait.ts";
import { PollPace, type PollPaceOptions } from "./poll-pace.ts";
import { readStates } from "./read-states.ts";
import { RowReader } from "./row-reader.ts";
import { GRACE_MS, Trip } from "./trip.ts";

/** Pauses of a wait while the database fails. */
const OUTAGE: Backoff = { baseMs: 100, capMs: 2000 };
/** How long a poll holds back the next one: its connection may be dead, and others are not. */
const OVERLAP_MS = 1000;

/**
 * All waits of one client: they share their polls. A poll is one statement about everything that is due or nearly so, and one is on
 * its way at a time. Each wait sleeps on a timer of its own, so that it goes on although the request that another wait
 * belongs to was ended by its platform.
 */
export class PollLoop {
  readonly #store: Store;
  readonly #signals: Notifier;
  readonly #reader: RowReader;
  readonly #waits = new Set<OpenWait>();
  readonly #due = new Set<OpenWait>();
  readonly #trips = new Set<Trip>();
  readonly #maxQueries: number;
  #isScheduled = false;
  #busyUntilMs = 0;
  #polls = 0;
  #statements = 0;

  constructor(store: Store, signals: Notifier) {
    this.#store = store;
    this.#signals = signals;
    this.#reader = new RowReader(
      store,
      (ref, task) => this.#onRow(ref, task),
      (refs, error) => {
        for (const wait of new Set(refs.map((ref) => ref.wait))) this.#onError(wait, error);
      },
    );
    // The other half is for what the invocation sends besides its waits.
    this.#maxQueries = (store.session.executor.limits.maxQueries ?? Number.POSITIVE_INFINITY) / 2;
    signals.onGap(() => this.#onGap());
  }

  /** Begins a wait. One that rests does nothing but subscribe to the ends of its ids, until `resume`. */
  open(
    kind: WaitKind,
    refs: readonly TaskRef[],
    options: PollPaceOptions,
    events: WaitEvents,
    isResting = false,
  ): OpenWait {
    const pace = new PollPace(options, performance.now(), this.#maxQueries);
    const wait = new OpenWait(kind, refs, pace, events, this.#sent, isResting);
    this.#waits.add(wait);
    for (const ref of wait.refs) if ("id" in ref.ref) this.#follow(ref, ref.ref.id);
    void this.#drive(wait);
    return wait;
  }

  /** Goes on with a wait that rests, after a pause since its last poll or, if there was none, from now. */
  resume(wait: OpenWait): void {
    if (!wait.isOpen) return;
    wait.isResting = false;
    wait.resumedAtMs = performance.now();
    if (wait.answered === 0) this.#rest(wait);
    wait.reschedule();
  }

  close(wait: OpenWait): void {
    if (!wait.isOpen) return;
    wait.isOpen = false;
    this.#waits.delete(wait);
    this.#due.delete(wait);
    for (const ref of wait.refs) ref.unsubscribe();
    this.#reader.close(wait);
    for (const trip of this.#trips) trip.leave(wait);
    wait.wake();
  }

  /** The database's time as far as it is known, in epoch milliseconds. */
  get nowMs(): number {
    return this.#store.session.target.nowMs ?? Date.now();
  }

  get #sent(): number {
    return this.#statements + this.#reader.sent;
  }

  async #drive(wait: OpenWait): Promise<void> {
    while (wait.isOpen) {
      const nowMs = performance.now();
      for (const ref of wait.told) this.#answer(ref, nowMs);
      wait.told.clear();
      const endMs = Math.max(wait.pace.endMs, wait.resumedAtMs);
      const latestMs = wait.isResting ? Number.POSITIVE_INFINITY : endMs + GRACE_MS;
      if (nowMs >= latestMs) {
        const late = new Error("no answer came in time");
        this.#timeOut(
          wait,
          null,
          wait.error ?? this.#store.session.driverError("getStatus", "unknown", late),
        );
        return;
      }
      if (!wait.isResting && nowMs >= wait.nextAtMs) this.#ask(wait, nowMs);
      await wait.sleep(wait.isResting ? latestMs : Math.min(wait.nextAtMs, latestMs) - nowMs);
    }
  }

  /** Has a wait polled with all that are due at this moment. */
  #ask(wait: OpenWait, nowMs: number): void {
    wait.nextAtMs = nowMs + OVERLAP_MS; // asks again if there is no answer by then
    this.#due.add(wait);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    this.#reader.flush();
    const nowMs = performance.now();
    if (this.#due.size === 0 || nowMs < this.#busyUntilMs) return;
    const refs: OpenRef[] = [];
    const waits: OpenWait[] = [];
    for (const wait of this.#waits) {
      if (wait.isResting || !(this.#due.has(wait) || wait.pace.isNear(nowMs))) continue;
      if (wait.pace.isOver(nowMs)) wait.isFinal = true;
      const [ref] = wait.refs;
      if (wait.isFinal && wait.kind === "one") {
        if (ref!.isReading) this.#reader.again(ref!, nowMs - OVERLAP_MS);
        else this.#reader.add(ref!, "id" in ref!.ref ? ref!.ref.id : null);
        continue;
      }
      // The request that reads them may have ended with its platform's invocation.
      for (const each of wait.refs) if (each.isReading) this.#reader.again(each, nowMs - OVERLAP_MS);
      if (wait.reading === wait.refs.size) continue;
      waits.push(wait);
      for (const open of wait.refs) if (!open.isReading) refs.push(open);
    }
    this.#due.clear();
    if (waits.length > 0) void this.#poll(waits, refs, nowMs);
  }

  async #poll(waits: readonly OpenWait[], refs: readonly OpenRef[], sentAtMs: number): Promise<void> {
    const number = ++this.#polls;
    // Each one that is not answered holds the next back for twice as long: a silent database is not asked at every turn.
    const busyUntilMs = sentAtMs + OVERLAP_MS * 2 ** Math.min(this.#trips.size, 4);
    this.#busyUntilMs = busyUntilMs;
    const trip = new Trip(waits, sentAtMs);
    this.#trips.add(trip);
    this.#statements++;
    let states: ReadonlyMap<OpenRef, TaskState | null> | undefined;
    let failure: unknown;
    try {
      states = await readStates(this.#store, refs, trip.call);
    } catch (error) {
      failure = error;
    }
    this.#trips.delete(trip);
    if (this.#busyUntilMs === busyUntilMs) this.#busyUntilMs = 0;
    for (const wait of waits) {
      if (!wait.isOpen || wait.answered > number) continue;
      if (states === undefined) this.#onError(wait, failure);
      else this.#onStates(wait, states, number);
    }
    this.#flush();
  }

  #onStates(wait: OpenWait, states: ReadonlyMap<OpenRef, TaskState | null>, number: number): void {
    wait.answered = number;
    wait.failures = 0;
    wait.error = undefined;
    let isMoved = false;
    for (const ref of [...wait.refs]) {
      const state = states.get(ref);
      if (state === undefined || ref.isReading) continue;
      if (wait.kind === "changes") wait.events.seen!(state);
      else if (state !== null && isTerminal(state.status)) this.#reader.add(ref, state.id);
      if (state !== null && this.#follow(ref, state.id)) isMoved = true;
    }
    if (!wait.isOpen) return;
    this.#rest(wait);
    // What ended between the look and the subscription was reported to no one.
    if (isMoved && this.#signals.doneState !== "local") wait.pace.hasten(performance.now(), 0);
    if (wait.isFinal) this.#finish(wait);
    wait.reschedule();
  }

  #onRow(ref: OpenRef, task: Task | null): void {
    const { wait } = ref;
    wait.failures = 0;
    wait.error = undefined;
    if (task !== null && isTerminal(task.status) && wait.kind !== "changes") {
      wait.refs.delete(ref);
      ref.unsubscribe();
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
    // A signal that came early, a task that was retried, or a key that points at another one by now.
    else if (task !== null && this.#follow(ref, task.id) && this.#signals.doneState !== "local") {
      wait.pace.hasten(performance.now(), 0);
    }
    wait.reschedule();
  }

  /** Its time was up before the last look: what is missing now stays missing, save rows that are still read. */
  #finish(wait: OpenWait): void {
    const [ref] = wait.refs;
    if (wait.kind === "many") {
      if (wait.reading === 0) this.#timeOut(wait, null, undefined);
    } else if (!wait.isResting && !ref!.isReading) this.#reader.add(ref!, ref!.id);
  }

  /** What may pass is waited out, as long as the wait lasts. */
  #onError(wait: OpenWait, error: unknown): void {
    if (!WadiError.is(error) || !error.retryable) {
      this.close(wait);
      wait.events.failed(error);
      return;
    }
    wait.error = error;
    if (wait.isFinal) {
      this.#timeOut(wait, null, error);
      return;
    }
    this.#rest(wait);
    wait.pace.delay(performance.now(), backoffDelay(OUTAGE, ++wait.failures));
    wait.reschedule();
  }

  #timeOut(wait: OpenWait, task: Task | null, error: unknown): void {
    this.close(wait);
    wait.events.timedOut(task, error);
  }

  #rest(wait: OpenWait): void {
    const isHeard = wait.kind !== "changes" && this.#signals.doneState === "listening";
    const isPushed = isHeard && [...wait.refs].every(({ id }) => id !== null);
    wait.pace.rest(performance.now(), this.#sent - wait.sentBefore, isPushed);
  }

  /** Subscribes to the end of the task of a reference. True if it is another one than before. */
  #follow(ref: OpenRef, id: string): boolean {
    if (ref.id === id) return false;
    ref.unsubscribe();
    ref.id = id;
    ref.unsubscribe = this.#signals.subscribe(id, () => this.#onDone(ref));
    return true;
  }

  /** Only wakes the wait: what it sends belongs to its own request, not to the one in which the task ended. */
  #onDone(ref: OpenRef): void {
    if (!ref.wait.isOpen) return;
    ref.wait.told.add(ref);
    ref.wait.wake();
  }

  /** Looks at a task whose end was reported. */
  #answer(ref: OpenRef, nowMs: number): void {
    const { wait } = ref;
    if (ref.isReading || !wait.refs.has(ref)) return;
    if (wait.kind !== "changes" && "id" in ref.ref) this.#reader.add(ref, ref.ref.id);
    else if (wait.kind === "one")
      this.#reader.add(ref, null); // a replace ends a task too, and moves the key
    else {
      wait.pace.hasten(nowMs, wait.kind === "changes" ? 0 : wait.refs.size / 10); // ends that come together share a poll
      wait.nextAtMs = wait.pace.dueAtMs;
    }
  }

  /** Ends may have been missed, or will not be reported any more. */
  #onGap(): void {
    const nowMs = performance.now();
    for (const wait of this.#waits) {
      if (this.#signals.doneState === "listening") wait.pace.hasten(nowMs, 0);
      else wait.pace.resume(nowMs);
      wait.reschedule();
    }
  }
}
