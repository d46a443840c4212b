import type { Row } from "../executor.ts";
import { type Operation, single, type Target } from "../operation.ts";
import { bind } from "../statement.ts";
import type { LeaseRef, LeaseRenewal } from "./lease.ts";

/** Extends leases; a task that is absent from the result is no longer held. */
export function renewLeases(
  target: Target,
  held: readonly LeaseRef[],
  leaseMs: number,
): Operation<LeaseRenewal[]> {
  const leases_json = JSON.stringify(held.map(({ id, workerId }) => ({ id, worker_id: workerId })));
  const values = { leases_json, lease_ms: leaseMs };
  return single("heartbeat", bind(target, "renew_leases", values), (rows) => {
    const renewed = new Map(rows.map((row) => [row.id, decodeRenewed(row)]));
    return held.flatMap(({ id }) => renewed.get(id) ?? []);
  });
}

/** Says which leases are still held, and which tasks were asked to stop. Nothing is written. */
export function checkLeases(target: Target, held: readonly LeaseRef[]): Operation<LeaseRenewal[]> {
  const leases_json = JSON.stringify(held.map(({ id, workerId }) => ({ id, worker_id: workerId })));
  return single("cancelPoll", bind(target, "select_held", { leases_json }), (rows) =>
    rows.map(decodeRenewed),
  );
}

function decodeRenewed(row: Row): LeaseRenewal {
  return { id: String(row.id), cancelRequested: Number(row.cancel_requested) === 1 };
}

export interface ProgressReport {
  /** 0..1; null leaves it alone. */
  readonly progress: number | null;
  readonly message: string | null;
}

/** Reports progress; null if the task is no longer held. */
export function updateProgress(
  target: Target,
  held: LeaseRef,
  report: ProgressReport,
): Operation<LeaseRenewal | null> {
  const values = { id: held.id, worker_id: held.workerId, ...report };
  return single("progress", bind(target, "update_progress", values), ([row]) =>
    row ? decodeRenewed(row) : null,
  );
}
