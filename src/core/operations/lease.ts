/** Operations on leases that a worker holds: extend them, check them, report progress under them. */
import type { Row } from "../executor.ts";
import type { QueryMeter } from "../session/query-meter.ts";
import { type Operation, type SqlTarget, single } from "./operation.ts";
import { bind } from "./statement.ts";

/** A task and the token of the claim that holds it. */
export interface LeaseRef {
  readonly id: string;
  readonly workerId: string;
  /** Counts what is submitted under it. */
  readonly meter?: QueryMeter | undefined;
}

/** A lease that is held. */
export interface LeaseRenewal {
  readonly id: string;
  readonly cancelRequested: boolean;
}

/** Extends leases; a task that is absent from the result is no longer held. */
export function renewLeases(
  target: SqlTarget,
  leases: readonly LeaseRef[],
  leaseMs: number,
): Operation<LeaseRenewal[]> {
  const values = { leases_json: leasesJson(leases), lease_ms: leaseMs };
  return single("heartbeat", bind(target, "renew_leases", values), (rows) => {
    const renewed = new Map(rows.map((row) => [row.id, decodeRenewal(row)]));
    return leases.flatMap(({ id }) => renewed.get(id) ?? []);
  });
}

/** Reads which leases are still held, and which of their tasks have a requested cancel. Nothing is written. */
export function checkLeases(target: SqlTarget, leases: readonly LeaseRef[]): Operation<LeaseRenewal[]> {
  return single("cancelPoll", bind(target, "select_held", { leases_json: leasesJson(leases) }), (rows) =>
    rows.map(decodeRenewal),
  );
}

function leasesJson(leases: readonly LeaseRef[]): string {
  return JSON.stringify(leases.map(({ id, workerId }) => ({ id, worker_id: workerId })));
}

function decodeRenewal(row: Row): LeaseRenewal {
  return { id: String(row.id), cancelRequested: Number(row.cancel_requested) === 1 };
}

export interface ProgressReport {
  /** From 0 to 1; null leaves it unchanged. */
  readonly progress: number | null;
  readonly message: string | null;
}

/** Reports progress; null if the task is no longer held. */
export function updateProgress(
  target: SqlTarget,
  lease: LeaseRef,
  report: ProgressReport,
): Operation<LeaseRenewal | null> {
  const values = { id: lease.id, worker_id: lease.workerId, ...report };
  return single("progress", bind(target, "update_progress", values), ([row]) =>
    row ? decodeRenewal(row) : null,
  );
}
