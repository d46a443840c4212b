/** What a short drain says to submits, so that they need not kick while it goes on; and its kick of the next drain. */

import { NEVER } from "../../core/infinity.ts";
import type { ClaimRequest } from "../../core/operations/claim.ts";
import type { ClaimResult } from "../../core/operations/claim-result.ts";
import { resetHops, takeHops, takeKicks, type WakeMark, type WakeState } from "../../core/operations/wake.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import { sleep } from "../../core/timers.ts";
import { ulid } from "../../core/ulid.ts";
import type { DrainSummary } from "../drain-summary.ts";
import type { DrainReporter } from "./drain-reporter.ts";
import type { DrainSettings } from "./drain-settings.ts";
import type { QueryBudget } from "./query-budget.ts";

/** How long submits rely on the drain before it claims again or takes back its mark. */
const HOLD_MS = 500;
/** Longest time that the end of a drain spends on a round trip for the next one, and on its kick. */
const ROUND_TRIP_MS = 5000;
const KICK_MS = 1000;

export interface WakeMarkerParts {
  readonly settings: DrainSettings;
  readonly totals: DrainReporter;
  readonly queries: QueryBudget;
}

/**
 * Keeps the mark of one drain in `wadi_wakes`: while it is held, submits rely on the drain to claim again. A claim that
 * follows a full one soon leaves it as it is; every other one renews it, or takes it back if it claims nothing. A drain
 * ends only without a mark. See docs/decisions/15-the-wake-marker.md.
 */
export class WakeMarker {
  readonly #parts: WakeMarkerParts;
  readonly #queues: readonly string[];
  readonly #owner = ulid();
  /** When the mark was renewed; null while the drain has none. */
  #heldSinceMs: number | null = null;
  /** Whether it waits for new tasks, and holds none. */
  #isStaying = false;
  #isFirst = true;
  #hops = 0;
  #delayedAtMs = NEVER;
  #spilling: Promise<void> | null = null;

  constructor(parts: WakeMarkerParts) {
    this.#parts = parts;
    this.#queues = [...new Set(parts.settings.registrations.flatMap(({ queues }) => queues))];
  }

  get #waker() {
    const { wadi, continuous } = this.#parts.settings;
    return continuous === null ? wadi.waker : null;
  }

  /** Whether submits may rely on this drain. */
  get isHeld(): boolean {
    return this.#heldSinceMs !== null;
  }

  /** When a claim is due that renews the mark or takes it back, on the monotonic clock. */
  get releaseAtMs(): number {
    if (this.#heldSinceMs === null || !this.#parts.queries.mayAskWhatIsLeft) return NEVER;
    return this.#heldSinceMs + (this.#isStaying ? this.#parts.settings.stayMs : HOLD_MS);
  }

  /** Whether the drain holds nothing and waits for new tasks until `releaseAtMs`. */
  get isStaying(): boolean {
    return this.#isStaying;
  }

  /** What the claim says; null: nothing. `isFull`: the last one found more than it could take. */
  markOf(request: ClaimRequest, nowMs: number, isFull: boolean): WakeMark | null {
    if (this.#waker === null || request.claimOnly) return null;
    if (isFull && this.#heldSinceMs !== null && nowMs < this.#heldSinceMs + HOLD_MS) return null;
    const { queries, settings } = this.#parts;
    // Without polls, submits could rely on it for too long.
    const mayHold = queries.mayPoll(settings.hints.findings.limited);
    const open = request.pools.flatMap(({ lanes, limit }) =>
      lanes.filter(({ quota }) => mayHold && limit > 0 && quota > 0),
    );
    const wakes = this.#queues.map((queue) => {
      const names = open.flatMap((lane) => (lane.queue === queue && lane.name !== null ? [lane.name] : []));
      return names.length === 0 ? { queue } : { queue, names: names.sort() };
    });
    const { workerId, leaseMs } = request;
    const keeps = open.length > 0 && this.#mayStay(nowMs);
    return { wakes, owner: this.#owner, workerId, leaseMs, keeps, isFirst: this.#isFirst };
  }

  /** The claim with this mark was answered. */
  answered(
    mark: WakeMark | null,
    states: readonly WakeState[] | null,
    claimed: ClaimResult,
    request: ClaimRequest,
    nowMs: number,
  ): void {
    if (claimed.tasks.length > 0) this.#isStaying = false;
    if (mark === null) return;
    this.#isFirst = false;
    if (states !== null) {
      this.#hops = Math.max(0, ...states.map(({ hops }) => hops));
      this.#delayedAtMs = Math.min(NEVER, ...states.map(({ delayedAtMs }) => delayedAtMs ?? NEVER));
    }
    const hasTasks = claimed.tasks.length > 0;
    const holds = (hasTasks || mark.keeps) && mark.wakes.some(({ names }) => names !== undefined);
    this.#isStaying = holds && !hasTasks;
    this.#heldSinceMs = holds ? nowMs : null;
    const { nextDueAtMs, nowMs: databaseMs } = claimed;
    const isDue = nextDueAtMs !== null && nextDueAtMs <= databaseMs;
    const isFull = request.pools.some(
      ({ limit, lanes }) => limit === 0 || lanes.some(({ quota }) => quota === 0),
    );
    if (!holds && isDue && isFull && claimed.tasks.length === 0) this.#spilling ??= this.#spill();
  }

  /**
   * The end of the drain: kicks the next one if tasks are due, and asks for a delayed kick where a wake can delay.
   * Returns how many round trips it made. Never rejects.
   */
  async finish(summary: DrainSummary): Promise<number> {
    const waker = this.#waker;
    if (waker === null) return 0;
    const before = this.#parts.totals.roundTrips;
    await this.#spilling;
    await waker.inBackground(this.#finish(summary));
    return this.#parts.totals.roundTrips - before;
  }

  /** It waits once after tasks, and ends then unless there are new ones. */
  #mayStay(nowMs: number): boolean {
    const { settings, totals } = this.#parts;
    const { stayMs, time, signal } = settings;
    if (stayMs === 0 || this.#isStaying || totals.claimedTasks === 0 || signal?.aborted) return false;
    return nowMs + stayMs < time.stopAtMs;
  }

  async #finish({ more, nextDueAtMs, ...summary }: DrainSummary): Promise<void> {
    const waker = this.#waker!;
    const { session } = this.#parts.settings.wadi;
    if (more || this.isHeld) {
      await this.#kickNext(summary.succeeded + summary.failed + summary.canceled > 0);
      return;
    }
    if (this.#hops > 0) await session.execute(resetHops(session.target, this.#queues), this.#call());
    if (!waker.canDelay || nextDueAtMs === null || this.#delayedAtMs <= nextDueAtMs) return;
    const request = { queue: this.#queues[0]!, names: [], runAtMs: nextDueAtMs };
    const kicks = await session.execute(takeKicks(session.target, [request], true), this.#call());
    await sleep(KICK_MS, undefined, waker.send(kicks, 0));
  }

  /** Kicks another drain for due tasks that this one has no room for. */
  async #spill(): Promise<void> {
    await this.#waker!.inBackground(this.#kickNext(false));
  }

  async #kickNext(progressed: boolean): Promise<void> {
    const { session } = this.#parts.settings.wadi;
    const { hop } = this.#parts.settings;
    const options = { owner: this.#owner, hop, progressed };
    const hops = await session.execute(takeHops(session.target, this.#queues, options), this.#call());
    if (hops.length === 0) return;
    const kicks = hops.map(({ queue }) => ({ queue, atMs: null }));
    const sent = this.#waker!.send(kicks, Math.max(...hops.map((kick) => kick.hop)));
    await sleep(KICK_MS, undefined, sent);
  }

  #call(): OperationOptions {
    const { totals, queries } = this.#parts;
    totals.roundTrip();
    return { deadlineMs: Date.now() + ROUND_TRIP_MS, meter: queries.meter };
  }
}
