import type { ClaimPool, Lane } from "../../core/operations/claim-pools.ts";
import type { Attempt } from "../handler/attempt.ts";
import { HandlerSlots } from "../handler/handler-slots.ts";
import { laneKey, type Registration } from "../handler/registration.ts";
import type { ByteBudget } from "./byte-budget.ts";
import { ReadyQueue } from "./ready-queue.ts";
import { Rotation } from "./rotation.ts";

/** Slots and prefetch of a worker, for all its names. */
export interface PoolSizes {
  readonly concurrency: number;
  readonly resources: ReadonlyMap<string, number>;
  /** Tasks claimed ahead of the free slots, over all pools. */
  readonly prefetch: number;
}

/** Names that draw from the same slots. */
export class SlotPool {
  readonly members: readonly HandlerSlots[];
  readonly slots: number;
  /** Handler calls that have not ended. */
  calls = 0;
  readonly ready: ReadyQueue;
  /** Whether there may be due tasks that were not asked for yet. */
  hungry = true;
  /** Tasks started so far. */
  started = 0;
  /** Tasks that may start until more are announced. */
  window: number;
  readonly #leastWindow: number;
  readonly rotation = new Rotation();
  /** Tasks started when the last round trip was composed. */
  #startedBefore = 0;
  readonly #bytes: ByteBudget;
  readonly #prefetch: number;
  readonly #batch: number;
  /** A claim is worth a round trip once no more tasks than this are ready. */
  #lowWater: number;
  /** Tasks that are expected to start while a claim is on its way. */
  #startMeanwhile = 0;
  /** The claim on its way: its smallest quota, and the tasks started and ready when it was sent; null if there is none. */
  #asked: { readonly least: number; readonly started: number; readonly ready: number } | null = null;

  constructor(members: readonly HandlerSlots[], slots: number, prefetch: number, bytes: ByteBudget) {
    this.#bytes = bytes;
    this.ready = new ReadyQueue(bytes);
    this.members = members;
    this.slots = slots;
    this.#prefetch = prefetch;
    this.#lowWater = Math.floor(prefetch / 2);
    this.#batch = Math.max(...members.map(({ batch }) => batch));
    this.#leastWindow = Math.max(8, slots * this.#batch);
    this.window = this.#leastWindow;
  }

  /** Tasks that the free slots hold. */
  get #free(): number {
    return (this.slots - this.calls) * this.#batch;
  }

  /** Tasks that could start at once, beside those that are ready. */
  get open(): number {
    const unused = this.members.reduce((sum, { free, ready }) => sum + Math.max(0, free - ready), 0);
    return Math.min(this.#free - this.#startable, unused);
  }

  /** Tasks a claim may bring now: those that could start, and some ahead. */
  get room(): number {
    return this.open + this.#ahead;
  }

  /** Ready tasks when the next answer comes: without those that will have started. */
  get #expected(): number {
    return Math.max(0, this.ready.size - this.#startMeanwhile);
  }

  /** Those of them that find a slot now. A name at its own limit has none, however many slots are free. */
  get #startable(): number {
    return Math.min(this.#expected, this.ready.size - this.waiting);
  }

  /** Ready tasks that find no slot now. */
  get waiting(): number {
    const startable = this.members.reduce((sum, { free, ready }) => sum + Math.min(free, ready), 0);
    return this.ready.size - Math.min(this.#free, startable);
  }

  /** How many more tasks may wait for a slot. */
  get #ahead(): number {
    const ahead = this.#prefetch - (this.#expected - this.#startable);
    return Math.max(0, Math.min(ahead, this.#bytes.ahead));
  }

  get isLow(): boolean {
    return this.ready.size <= this.#lowWater || this.#isStuck;
  }

  /** Whether slots are free and only tasks are ready whose names are at their own limits. */
  get #isStuck(): boolean {
    return (
      this.calls < this.slots &&
      !this.members.some(({ ready, calls, maxCalls }) => ready > 0 && calls < maxCalls)
    );
  }

  /** Whether a claim for it is worth a round trip of its own. */
  get wantsMore(): boolean {
    return this.hungry && this.isLow && this.room > 0;
  }

  /** What it asks for in a claim of at most `limit` tasks. Names that do not fit only count for the next due time. */
  ask(limit: number, leftMs: number): ClaimPool {
    const lanes: Lane[] = [];
    // What will have started before the next round trip announces more need not be announced.
    const later = Math.max(0, this.#ahead - this.window);
    let least = Number.POSITIVE_INFINITY;
    const ahead = this.#ahead;
    for (const { registration, free, ready, inPlay, needsMs } of this.members) {
      const room = Math.max(0, free - ready) + ahead;
      const quota = limit > 0 && needsMs <= leftMs ? Math.min(limit, room) : 0;
      if (quota > 0) least = Math.min(least, quota);
      for (const queue of registration.queues) {
        const { name } = registration;
        const lane = laneKey({ queue, name });
        const rank = (inPlay.get(queue) ?? 0) + this.rotation.handicap(lane);
        const served = this.rotation.served(lane);
        lanes.push({
          ...{ queue, name, quota, rank },
          ...(served.length > 0 && { served }),
          ...(later > 0 && { prefetch: later }),
        });
      }
    }
    const fits = Number.isFinite(least);
    this.#asked =
      limit > 0 ? { least: fits ? least : 0, started: this.started, ready: this.ready.size } : null;
    if (later === 0 || !fits) return { lanes, limit: fits ? limit : 0 };
    return { lanes, limit, prefetch: Math.min(limit, later) };
  }

  /**
   * Tasks that may start until the next round trip but one is answered: three times those of the last one, and many more once
   * they were too few. Called as a round trip is composed.
   */
  plan(): number {
    const ranDry = this.ready.size > 0 && this.ready.size === this.ready.held;
    const lately = this.window - (this.window >> 5);
    const usual = Math.max(this.#leastWindow, 3 * (this.started - this.#startedBefore), lately);
    this.window = ranDry ? Math.min(this.#leastWindow + this.#prefetch, 32 * this.window) : usual;
    this.#startedBefore = this.started;
    return this.window;
  }

  /** Takes in how many tasks the claim brought, before they are added. */
  answered(taken: number): void {
    if (this.#asked === null) return;
    const { least, started, ready } = this.#asked;
    this.hungry = least > 0 && taken >= least;
    const meanwhile = this.started - started;
    const ranDry = this.ready.size === 0;
    // Those that ran dry say only that no fewer start. If all of them do, the next claim goes out at once.
    if (ready > 0) this.#startMeanwhile = ranDry ? Math.max(this.#startMeanwhile, meanwhile) : meanwhile;
    const needed = ranDry ? Math.max(8, (ready > 0 ? 2 : 1) * this.#lowWater) : 2 * this.#startMeanwhile;
    this.#lowWater = Math.min(this.#prefetch, needed);
    this.#asked = null;
  }

  /** Takes the tasks of the next call; empty if none may start now. */
  next(mayStart: (attempt: Attempt) => boolean): Attempt[] {
    if (this.calls >= this.slots) return [];
    const first = this.ready.take(
      (attempt) => attempt.member.calls < attempt.member.maxCalls && mayStart(attempt),
    );
    if (first === null) return [];
    const attempts = [first];
    const { member } = first;
    // A call with a task whose worker vanished before has only that one.
    const most = first.task.crashes > 0 ? 1 : member.batch;
    while (attempts.length < most) {
      const another = this.ready.take(
        (attempt) => attempt.member === member && attempt.task.crashes === 0 && mayStart(attempt),
      );
      if (another === null) break;
      attempts.push(another);
    }
    return attempts;
  }
}

/** Names with a resource share a pool, names with a batch or a concurrency have their own, all others share one. */
export function makeSlotPools(
  registrations: readonly Registration[],
  sizes: PoolSizes,
  bytes: ByteBudget,
): SlotPool[] {
  const groups = new Map<string, Registration[]>();
  for (const registration of registrations) {
    const { resource, concurrency, batch, queues, name } = registration;
    const isApart = concurrency !== null || batch !== null;
    const group =
      resource !== null ? `r${resource}` : isApart ? `n${laneKey({ queue: queues[0]!, name })}` : "";
    groups.set(group, [...(groups.get(group) ?? []), registration]);
  }
  const drafts = [...groups.values()].map((group) => {
    const { resource, concurrency } = group[0]!;
    const shared = resource === null ? sizes.concurrency : sizes.resources.get(resource)!;
    const slots = resource === null ? (concurrency ?? shared) : shared;
    const members = group.map((registration) => new HandlerSlots(registration, slots));
    return { members, slots, capacity: slots * Math.max(...members.map(({ batch }) => batch)) };
  });
  const total = drafts.reduce((sum, { capacity }) => sum + capacity, 0);
  return drafts.map(({ members, slots, capacity }) => {
    return new SlotPool(members, slots, Math.floor((sizes.prefetch * capacity) / total), bytes);
  });
}
