import { monotonicMs } from "../../core/clock.ts";
import type { Lease } from "../handler/lease.ts";

const NEVER = Number.POSITIVE_INFINITY;

/** The leases of a drain, and when they are due to be renewed. */
export class Leases {
  readonly #leases = new Set<Lease>();
  readonly #leaseMs: number;
  readonly #deadlineMs: number;

  /** `deadlineMs`: when the drain is over, on the monotonic clock. */
  constructor(leaseMs: number, deadlineMs: number) {
    this.#leaseMs = leaseMs;
    this.#deadlineMs = deadlineMs;
  }

  add(lease: Lease): void {
    this.#leases.add(lease);
  }

  /** A task under it has ended. */
  ended(lease: Lease): void {
    if (lease.taskEnded()) this.#leases.delete(lease);
  }

  /** When the first of them ends, on the monotonic clock. */
  get endsAtMs(): number {
    let at = NEVER;
    for (const { endsAtMs } of this.#leases) at = Math.min(at, endsAtMs);
    return at;
  }

  /** Half a lease before the first one ends; never while all of them outlast the drain. */
  get heartbeatAtMs(): number {
    const { endsAtMs } = this;
    return endsAtMs <= this.#deadlineMs ? endsAtMs - this.#leaseMs / 2 : NEVER;
  }

  /** Makes a heartbeat due. */
  renewNow(): void {
    const endsAtMs = monotonicMs() + this.#leaseMs / 2;
    for (const lease of this.#leases) lease.shorten(endsAtMs);
  }
}
