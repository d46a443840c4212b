/** The operations of the protocol as methods, so that a test can act as a worker without being one. */

import { type ClaimRequest, claim } from "../src/core/operations/claim.ts";
import type { ClaimResult } from "../src/core/operations/claim-result.ts";
import {
  checkLeases,
  type LeaseRef,
  type LeaseRenewal,
  type ProgressReport,
  renewLeases,
  updateProgress,
} from "../src/core/operations/lease.ts";
import { combineTwo } from "../src/core/operations/operation.ts";
import { getTask, type TaskRef } from "../src/core/operations/read.ts";
import { type Settlement, type SettleResult, type Start, settle } from "../src/core/operations/settle.ts";
import type { OperationOptions } from "../src/core/session/operation-options.ts";
import { getTasksByHalves } from "../src/core/session/read-by-halves.ts";
import type { Session } from "../src/core/session/session.ts";
import type { Task } from "../src/core/task.ts";
import { internalsOf } from "../src/producer/internals.ts";

/** What a worker and the reads of a producer send to the database of `wadi`. Arguments are not checked. */
export function storeOf(wadi: unknown): Store {
  return new Store(internalsOf(wadi).session);
}

export class Store {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  claim(request: ClaimRequest, call?: OperationOptions): Promise<ClaimResult> {
    return this.#session.execute(claim(this.#session.target, request), call);
  }

  settle(settlements: readonly (Settlement | Start)[], call?: OperationOptions): Promise<SettleResult[]> {
    return this.#session.execute(settle(this.#session.target, settlements), call);
  }

  /** The round trip of a drain. */
  settleAndClaim(
    settlements: readonly (Settlement | Start)[],
    request: ClaimRequest,
  ): Promise<[settled: SettleResult[], claimed: ClaimResult]> {
    const { target } = this.#session;
    const settling = settle(target, settlements);
    return this.#session.execute(combineTwo("settleAndClaim", settling, claim(target, request)));
  }

  heartbeat(leases: readonly LeaseRef[], leaseMs: number): Promise<LeaseRenewal[]> {
    return this.#session.execute(renewLeases(this.#session.target, leases, leaseMs));
  }

  checkLeases(leases: readonly LeaseRef[]): Promise<LeaseRenewal[]> {
    return this.#session.execute(checkLeases(this.#session.target, leases));
  }

  progress(lease: LeaseRef, report: ProgressReport): Promise<LeaseRenewal | null> {
    return this.#session.execute(updateProgress(this.#session.target, lease, report));
  }

  get(ref: TaskRef, call?: OperationOptions): Promise<Task | null> {
    return this.#session.execute(getTask(this.#session.target, ref), call);
  }

  getMany(ids: readonly string[]): Promise<Task[]> {
    return getTasksByHalves(this.#session, ids);
  }
}
