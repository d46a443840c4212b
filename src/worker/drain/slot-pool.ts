import { NO_LIMIT } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { ClaimPool, Lane } from "../../core/operations/claim-pools.ts";
import type { Attempt } from "../handler/attempt.ts";
import type { HandlerSlots } from "../handler/handler-slots.ts";
import { laneKey } from "../handler/registration.ts";
import type { ByteBudget } from "./byte-budget.ts";
import { FairRotation } from "./fair-rotation.ts";
import { ReadyQueue } from "./ready-queue.ts";
import { StartForecast } from "./start-forecast.ts";

/**
 * Slots that one or more names share: how many are free, which tasks wait for them, and what a claim asks for to fill
 * them.
 */
export class SlotPool {
  readonly handlers: readonly HandlerSlots[];
  readonly slots: number;
  readonly ready: ReadyQueue;
  readonly #bytes: ByteBudget;
  readonly #prefetch: number;
  /** Most tasks that one call takes. */
  readonly #batch: number;
  readonly #forecast: StartForecast;
  readonly #rotation = new FairRotation();
  #calls = 0;
  #mayHaveDueTasks = true;
  /** Smallest quota of the claim in flight, 0 if no name had one; null if the pool is not part of a claim. */
  #leastQuota: number | null = null;

  constructor(handlers: readonly HandlerSlots[], slots: number, prefetch: number, bytes: ByteBudget) {
    this.#bytes = bytes;
    this.ready = new ReadyQueue(bytes);
    this.handlers = handlers;
    this.slots = slots;
    this.#prefetch = prefetch;
    this.#batch = Math.max(...handlers.map(({ batch }) => batch));
    this.#forecast = new StartForecast(prefetch, slots * this.#batch);
  }

  /** Whether a slot is free. */
  get hasFreeSlot(): boolean {
    return this.#calls < this.slots;
  }

  /** Whether there may be due tasks that no claim has asked for. */
  get mayHaveDueTasks(): boolean {
    return this.#mayHaveDueTasks;
  }

  expectDueTasks(): void {
    this.#mayHaveDueTasks = true;
  }

  /** Tasks that the free slots hold. */
  get #free(): number {
    return (this.slots - this.#calls) * this.#batch;
  }

  /** Tasks that could start at once and end in time, in addition to those that are ready. */
  get open(): number {
    return this.#openAt(monotonicMs());
  }

  #openAt(nowMs: number): number {
    let unused = 0;
    for (const handler of this.handlers)
      if (handler.fits(nowMs)) unused += Math.max(0, handler.free - handler.ready);
    return Math.min(this.#free - this.#startable, unused);
  }

  /** Tasks a claim may bring now: those that could start at once, and some ahead. 0 if no name has time to run. */
  get room(): number {
    const nowMs = monotonicMs();
    if (!this.handlers.some((handler) => handler.fits(nowMs))) return 0;
    return this.#openAt(nowMs) + this.#ahead;
  }

  /** Tasks of now that are still ready when the next answer comes. */
  get #expectedReady(): number {
    return Math.max(0, this.ready.size - this.#forecast.duringTrip);
  }

  /** Those of them that find a free slot. A name at its own limit finds none, however many slots are free. */
  get #startable(): number {
    return Math.min(this.#expectedReady, this.ready.size - this.waiting);
  }

  /** Ready tasks that find no free slot. */
  get waiting(): number {
    const startable = this.handlers.reduce((sum, { free, ready }) => sum + Math.min(free, ready), 0);
    return this.ready.size - Math.min(this.#free, startable);
  }

  /** How many more tasks may wait for a slot. */
  get #ahead(): number {
    const ahead = this.#prefetch - (this.#expectedReady - this.#startable);
    return Math.max(0, Math.min(ahead, this.#bytes.ahead));
  }

  /** Whether few enough tasks are ready for a claim to be worth a round trip. */
  get isLow(): boolean {
    return this.ready.size <= this.#forecast.lowWater || this.#isStuck;
  }

  /** Whether slots are free, and every ready task is of a name at its own limit. */
  get #isStuck(): boolean {
    return (
      this.hasFreeSlot && !this.handlers.some(({ ready, calls, maxCalls }) => ready > 0 && calls < maxCalls)
    );
  }

  /** Whether a claim for it is worth a round trip that settles nothing. */
  get wantsMore(): boolean {
    return this.#mayHaveDueTasks && this.isLow && this.room > 0;
  }

  /**
   * What it asks for in a claim of at most `limit` tasks. A name that has no room, or whose runs are longer than
   * `leftMs`, has the quota 0: it only counts for the next due time. One that is too long for the drain is left out.
   */
  ask(limit: number, leftMs: number): ClaimPool {
    const lanes: Lane[] = [];
    const ahead = this.#ahead;
    // Tasks that start before the next round trip need no announcement: only those after them are prefetched.
    const prefetch = Math.max(0, ahead - this.#forecast.window);
    let least = NO_LIMIT;
    for (const handler of this.handlers) {
      if (handler.isTooLong) continue;
      const { registration, free, ready, inFlight, needsMs } = handler;
      const room = Math.max(0, free - ready) + ahead;
      const quota = limit > 0 && needsMs <= leftMs ? Math.min(limit, room) : 0;
      if (quota > 0) least = Math.min(least, quota);
      for (const queue of registration.queues) {
        const { name } = registration;
        const lane = laneKey({ queue, name });
        const rank = (inFlight.get(queue) ?? 0) + this.#rotation.rankPenalty(lane);
        const served = this.#rotation.servedKeys(lane);
        lanes.push({
          ...{ queue, name, quota, rank },
          ...(served.length > 0 && { served }),
          ...(prefetch > 0 && { prefetch }),
        });
      }
    }
    const fits = Number.isFinite(least);
    this.#leastQuota = limit === 0 ? null : fits ? least : 0;
    this.#forecast.claimSent(this.ready.size);
    if (prefetch === 0 || !fits) return { lanes, limit: fits ? limit : 0 };
    return { lanes, limit, prefetch: Math.min(limit, prefetch) };
  }

  /** Notes which of its tasks a claim brought; call it before they are added. */
  claimAnswered(attempts: readonly Attempt[]): void {
    this.#rotation.serve(attempts);
    if (this.#leastQuota === null) return;
    this.#mayHaveDueTasks = this.#leastQuota > 0 && attempts.length >= this.#leastQuota;
    this.#forecast.claimAnswered(this.ready.size);
    this.#leastQuota = null;
  }

  /** The attempts whose starts the round trip that is composed now is to announce. */
  nextStarts(): Attempt[] {
    return this.ready.toAnnounce(this.#forecast.nextWindow(this.ready.isAllUnannounced));
  }

  /** Takes the tasks of the next call; empty if none may start now. */
  next(mayStart: (attempt: Attempt) => boolean): Attempt[] {
    if (!this.hasFreeSlot) return [];
    const first = this.ready.take(
      (attempt) => attempt.handler.calls < attempt.handler.maxCalls && mayStart(attempt),
    );
    if (first === null) return [];
    const attempts = [first];
    const { handler } = first;
    // A task whose worker vanished before is alone in its call.
    const most = first.task.crashes > 0 ? 1 : handler.batch;
    while (attempts.length < most) {
      const another = this.ready.take(
        (attempt) => attempt.handler === handler && attempt.task.crashes === 0 && mayStart(attempt),
      );
      if (another === null) break;
      attempts.push(another);
    }
    return attempts;
  }

  /** A call with `tasks` tasks takes a slot. */
  begin(handler: HandlerSlots, tasks: number): void {
    this.#calls++;
    this.#forecast.started(tasks);
    handler.beginCall();
  }

  /** A call that took `durationMs` leaves its slot. */
  end(handler: HandlerSlots, durationMs: number): void {
    this.#calls--;
    handler.endCall(durationMs);
  }
}
