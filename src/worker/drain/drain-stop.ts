import { NEVER } from "../../core/infinity.ts";
import type { TripParts } from "./trip-parts.ts";

/**
 * Stops a drain once its time is up or its signal has aborted: first its claims, then, after the grace, its handlers.
 */
export class DrainStop {
  readonly #parts: TripParts;
  #isStopping = false;
  /** When the handlers are stopped, once the drain is stopping. */
  #expireAllAtMs = NEVER;

  constructor(parts: TripParts) {
    this.#parts = parts;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** When `applyTime` has something to do, unless the signal aborts before. */
  get nextAtMs(): number {
    return this.#isStopping ? this.#expireAllAtMs : this.#parts.time.stopAtMs;
  }

  applyTime(nowMs: number): void {
    const { settings, held, time } = this.#parts;
    const isAborted = settings.signal?.aborted ?? false;
    if (!this.#isStopping && (isAborted || nowMs >= time.stopAtMs)) this.#begin(nowMs);
    if (nowMs < this.#expireAllAtMs) return;
    this.#expireAllAtMs = NEVER;
    held.running.expireAll(isAborted ? "was stopped by its worker" : "ran until its drain was over", nowMs);
  }

  #begin(nowMs: number): void {
    const { settings, claims, held, polls, time, trips } = this.#parts;
    const { continuous } = settings;
    this.#isStopping = true;
    claims.close();
    polls.cancel();
    held.releaseReady();
    this.#expireAllAtMs = nowMs + (continuous?.graceMs ?? 0);
    time.stop(this.#expireAllAtMs);
    if (continuous !== null) trips.deadlines.endSoon(nowMs, continuous.graceMs);
  }
}
