import type { Backoff } from "../core/backoff.ts";
import { envelope } from "../core/envelope.ts";
import { isRefusal } from "../core/errors.ts";
import { ulid } from "../core/ids.ts";
import type { Claimed, ClaimRequest } from "../core/operations/lease.ts";
import type { Settled, Settlement } from "../core/operations/settle.ts";
import type { CallOptions } from "../core/session.ts";
import type { Wadi } from "../core/wadi.ts";
import { type Attempt, type AttemptOptions, newAttempt } from "./attempt.ts";
import { laneKey, type Registration } from "./registration.ts";

/** What one drain did, and what it left. */
export interface DrainSummary {
  readonly claimed: number;
  readonly succeeded: number;
  /** Failed for good. */
  readonly failed: number;
  /** Failed and queued again. */
  readonly retried: number;
  /** Handed back unstarted, without spending an attempt. */
  readonly released: number;
  readonly canceled: number;
  /** Tasks of others whose lease had run out. */
  readonly recovered: number;
  /** Attempts whose lease was lost before they could be settled. */
  readonly lost: number;
  readonly roundTrips: number;
  /** True if tasks were due when the drain ended: drain again. */
  readonly more: boolean;
  /** When the next task is due or the next lease runs out, in epoch milliseconds; null if nothing is queued. */
  readonly nextDueAtMs: number | null;
}

export interface DrainPlan {
  readonly wadi: Wadi;
  readonly registrations: readonly Registration[];
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly backoff: Backoff;
  /** Begins every lease token. */
  readonly name: string;
  readonly deadlineMs: number;
  /** Time kept at the end to settle what was stopped, in milliseconds. */
  readonly reserveMs: number;
  readonly maxTasks: number;
  readonly signal: AbortSignal | undefined;
}

/** What an answer may take in a drain that begins when its time is nearly up. */
const GRACE_MS = 1000;
const NEVER = Number.POSITIVE_INFINITY;
/** Turns of the microtask queue in which handlers that end at once are gathered into one settlement. */
const GATHER_TURNS = 8;

/** One invocation: claims, runs and settles until nothing is due or the time is up. */
export class Drain {
  readonly #plan: DrainPlan;
  readonly #byLane: Map<string, Registration>;
  readonly #stopAtMs: number;
  readonly #call: CallOptions;
  readonly #running = new Set<Attempt>();
  readonly #attemptOptions: AttemptOptions;
  #settlements: Settlement[] = [];
  #wake: () => void = () => {};
  #stopping = false;
  #last: Pick<Claimed, "nextDueAtMs" | "nowMs"> & { readonly atMs: number } = {
    nextDueAtMs: null,
    nowMs: 0,
    atMs: 0,
  };
  readonly #counts = {
    claimed: 0,
    succeeded: 0,
    failed: 0,
    retried: 0,
    released: 0,
    canceled: 0,
    recovered: 0,
    lost: 0,
    roundTrips: 0,
  };

  constructor(plan: DrainPlan) {
    this.#plan = plan;
    this.#byLane = new Map(plan.registrations.map((registration) => [laneKey(registration), registration]));
    this.#stopAtMs = plan.deadlineMs - plan.reserveMs;
    this.#call = { deadlineMs: Math.max(plan.deadlineMs, Date.now() + GRACE_MS) };
    this.#attemptOptions = {
      ...plan,
      stopAtMs: this.#stopAtMs,
      graceMs: plan.reserveMs / 4,
      onEnd: (attempt, settlement) => this.#onEnd(attempt, settlement),
    };
  }

  async run(): Promise<DrainSummary> {
    const onAbort = () => this.#wake();
    this.#plan.signal?.addEventListener("abort", onAbort);
    try {
      await this.#loop();
    } finally {
      this.#plan.signal?.removeEventListener("abort", onAbort);
      // Only after a failed round trip are there attempts left: their tasks come back when the leases run out.
      for (const attempt of this.#running) attempt.lose();
    }
    const { nextDueAtMs, nowMs } = this.#last;
    return { ...this.#counts, more: nextDueAtMs !== null && nextDueAtMs <= nowMs, nextDueAtMs };
  }

  async #loop(): Promise<void> {
    // Whether there may be due tasks that this drain has room for and has not asked for yet.
    let hungry = true;
    for (;;) {
      this.#stopIfDue();
      const limit = this.#freeSlots();
      if (this.#settlements.length > 0 || (hungry && limit > 0) || this.#counts.roundTrips === 0) {
        hungry = await this.#cycle(limit);
      } else {
        if (this.#running.size === 0) return;
        hungry = (await this.#nextEvent()) || hungry;
      }
      await this.#gather();
    }
  }

  #freeSlots(): number {
    if (this.#stopping) return 0;
    const { concurrency, maxTasks } = this.#plan;
    return Math.min(concurrency - this.#running.size, maxTasks - this.#counts.claimed);
  }

  /** One round trip. True if the claim took all it could, so that there may be more. */
  async #cycle(limit: number): Promise<boolean> {
    const { wadi } = this.#plan;
    const settlements = this.#settlements;
    this.#settlements = [];
    const request = this.#claimRequest(limit);
    const sentAtMs = Date.now();
    this.#counts.roundTrips++;
    const call = this.#call;
    const [settled, claimed] = await wadi.store.cycle(settlements, request, call).catch(async (error) => {
      if (!isRefusal(error)) throw error;
      const apart = [];
      for (const settlement of settlements) apart.push(await this.#settleAlone(settlement));
      return [apart, await wadi.store.claim(request, call)] as const;
    });
    this.#count(settlements, settled);
    this.#counts.recovered += claimed.recovered.length;
    this.#counts.claimed += claimed.tasks.length;
    this.#last = { nextDueAtMs: claimed.nextDueAtMs, nowMs: claimed.nowMs, atMs: Date.now() };
    this.#stopIfDue();
    for (const task of claimed.tasks) {
      if (this.#stopping) {
        const held = { id: task.id, workerId: request.workerId, attempt: task.attempt };
        this.#settlements.push({ ...held, outcome: "release", delayMs: 0 });
        continue;
      }
      const registration = this.#byLane.get(laneKey(task))!;
      const attempt = newAttempt(task, registration, sentAtMs + request.leaseMs, this.#attemptOptions);
      this.#running.add(attempt);
      void attempt.run();
    }
    return limit > 0 && claimed.tasks.length === limit;
  }

  /** One result that the database refuses must not hold up the others: its own task fails for good. */
  async #settleAlone(settlement: Settlement): Promise<Settled> {
    const { wadi } = this.#plan;
    const settle = async (one: Settlement) => (await wadi.store.settle([one], this.#call))[0]!;
    this.#counts.roundTrips++;
    return settle(settlement).catch((error) => {
      if (!isRefusal(error)) throw error;
      const { id, workerId, attempt } = settlement;
      const refused = envelope("DriverError", "unserializable_result", error.message, false);
      return settle({ id, workerId, attempt, outcome: "fail", error: refused });
    });
  }

  /** A name is claimed only while its attempt is expected to fit; every name counts for the next due time. */
  #claimRequest(limit: number): ClaimRequest {
    const leftMs = this.#stopAtMs - Date.now();
    const lanes = this.#plan.registrations.map((registration) => ({
      queue: registration.queue,
      name: registration.name,
      // A drain begins without the estimate: a name that was slow once would never run again to improve it.
      quota:
        (registration.maxRunMs ?? (this.#counts.roundTrips && registration.runs.p95())) <= leftMs ? limit : 0,
    }));
    const fits = lanes.some((lane) => lane.quota > 0);
    return {
      pools: [{ lanes, limit: fits ? limit : 0 }],
      workerId: `${this.#plan.name}:${ulid()}`,
      leaseMs: this.#plan.leaseMs,
      limited: false,
    };
  }

  #count(settlements: readonly Settlement[], settled: readonly Settled[]): void {
    settled.forEach(({ status }, i) => {
      if (status === null) this.#counts.lost++;
      else if (status === "queued")
        this.#counts[settlements[i]!.outcome === "release" ? "released" : "retried"]++;
      else if (status !== "running") this.#counts[status]++;
    });
  }

  #onEnd(attempt: Attempt, settlement: Settlement | null): void {
    if (!this.#running.delete(attempt)) return;
    if (settlement === null) this.#counts.lost++;
    else this.#settlements.push(settlement);
    this.#wake();
  }

  #stopIfDue(): void {
    const aborted = this.#plan.signal?.aborted ?? false;
    if (this.#stopping || !(aborted || Date.now() >= this.#stopAtMs)) return;
    this.#stopping = true;
    const why = aborted ? "was stopped by its worker" : "ran until its drain was over";
    for (const attempt of this.#running) attempt.expire(why);
  }

  /** Waits until a handler ends, a lease needs a heartbeat or the time is up. True if a task became due. */
  async #nextEvent(): Promise<boolean> {
    const dueAtMs = this.#dueAtMs();
    const heartbeatAtMs = this.#heartbeatAtMs();
    const untilMs = Math.min(dueAtMs, heartbeatAtMs, this.#stopping ? NEVER : this.#stopAtMs);
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (untilMs !== NEVER) timer = setTimeout(resolve, Math.max(0, untilMs - Date.now()));
    });
    clearTimeout(timer);
    this.#wake = () => {};
    const nowMs = Date.now();
    if (nowMs >= heartbeatAtMs) await this.#heartbeat();
    return nowMs >= dueAtMs;
  }

  /** When a free slot could be filled by a task that is not due yet, by the local clock. */
  #dueAtMs(): number {
    const { nextDueAtMs, nowMs, atMs } = this.#last;
    if (this.#freeSlots() === 0 || nextDueAtMs === null || nextDueAtMs <= nowMs) return NEVER;
    return atMs + (nextDueAtMs - nowMs);
  }

  /** Half a lease before the first lease runs out; never while all leases outlast the invocation. */
  #heartbeatAtMs(): number {
    let at = NEVER;
    for (const { leaseEndsAtMs } of this.#running) {
      if (leaseEndsAtMs <= this.#plan.deadlineMs) at = Math.min(at, leaseEndsAtMs - this.#plan.leaseMs / 2);
    }
    return at;
  }

  async #heartbeat(): Promise<void> {
    const attempts = [...this.#running];
    const { wadi, leaseMs } = this.#plan;
    const sentAtMs = Date.now();
    this.#counts.roundTrips++;
    const renewed = await wadi.store.heartbeat(
      attempts.map(({ held }) => held),
      leaseMs,
      this.#call,
    );
    const byId = new Map(renewed.map((entry) => [entry.id, entry]));
    for (const attempt of attempts) attempt.learn(byId.get(attempt.held.id), sentAtMs + leaseMs);
  }

  /** Lets handlers that end in the same turn join one settlement: N tasks cost N / gathered round trips. */
  async #gather(): Promise<void> {
    for (let turn = 0; turn < GATHER_TURNS && this.#running.size > 0; turn++) await null;
    if (this.#running.size > 0 && this.#settlements.length > 0)
      await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
