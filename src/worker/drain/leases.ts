import { NEVER } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import type { ClaimLease } from "../handler/claim-lease.ts";
import type { DrainSettings } from "./drain-settings.ts";

/** The leases that a drain holds, and when they are due to be renewed. */
export class Leases {
  readonly #leases = new Set<ClaimLease>();
  readonly #settings: Pick<DrainSettings, "leaseMs" | "deadlineMs">;

  constructor(settings: Pick<DrainSettings, "leaseMs" | "deadlineMs">) {
    this.#settings = settings;
  }

  add(lease: ClaimLease): void {
    this.#leases.add(lease);
  }

  /** A task under it has ended. */
  ended(lease: ClaimLease): void {
    if (lease.taskEnded()) this.#leases.delete(lease);
  }

  /** When the first of them expires, on the monotonic clock. */
  get endsAtMs(): number {
    let at = NEVER;
    for (const { endsAtMs } of this.#leases) at = Math.min(at, endsAtMs);
    return at;
  }

  /** Half a lease before the first one expires; `Infinity` while all of them outlast the drain. */
  get heartbeatAtMs(): number {
    const { endsAtMs } = this;
    return endsAtMs <= this.#settings.deadlineMs ? endsAtMs - this.#settings.leaseMs / 2 : NEVER;
  }

  /** Makes a heartbeat due now. */
  renewNow(): void {
    const endsAtMs = monotonicMs() + this.#settings.leaseMs / 2;
    for (const lease of this.#leases) lease.shorten(endsAtMs);
  }
}
