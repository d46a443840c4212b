import { byClaimOrder, decodeTask, numberOrNull } from "../codec.ts";
import type { Row, Statement } from "../executor.ts";
import { type Operation, single, type Target } from "../operation.ts";
import { bind } from "../statement.ts";
import type { Task, TaskStatus } from "../task.ts";

/** Where a claim may take from: a queue and a name (null: every name), at most `quota` tasks. */
export interface Lane {
  readonly queue: string;
  readonly name: string | null;
  readonly quota: number;
}

export interface ClaimRequest {
  readonly lanes: readonly Lane[];
  /** Lease token, used for this claim alone. */
  readonly workerId: string;
  readonly leaseMs: number;
  /** Most tasks over all lanes. 0 only recovers leases and asks when the next task is due. */
  readonly limit: number;
}

export interface Claimed {
  /** In claim order. */
  readonly tasks: Task[];
  /** Tasks whose lease ran out, by what became of them. */
  readonly recovered: readonly TaskStatus[];
  /** When the next task of the lanes is due or the next lease of any task runs out; null if there is neither. */
  readonly nextDueAtMs: number | null;
  readonly nowMs: number;
}

/** A task and the token of the claim that holds it. */
export interface Held {
  readonly id: string;
  readonly workerId: string;
}

export interface Renewed {
  readonly id: string;
  readonly cancelRequested: boolean;
}

/**
 * Recovers expired leases, claims, and learns when the next task is due. A resend finds again what a lost
 * first try claimed under the same token.
 */
export function claim(target: Target, request: ClaimRequest): Operation<Claimed> {
  const { workerId, leaseMs, limit } = request;
  const lanes_json = JSON.stringify(request.lanes);
  const build = (take: readonly Statement[]): Operation<Claimed> => ({
    name: "claim",
    statements: [
      bind(target, "recover_leases", {}),
      ...take,
      bind(target, "select_next_due", { lanes_json }),
    ],
    decode: (results) =>
      decodeClaimed(results[0]!, take.length === 0 ? [] : results[1]!, results.at(-1)![0]!),
  });
  const values = { lanes_json, worker_id: workerId, lease_ms: leaseMs, max_tasks: limit };
  return {
    ...build(limit === 0 ? [] : [bind(target, "claim_tasks", values)]),
    resend: () => build([bind(target, "select_claimed", { worker_id: workerId })]),
  };
}

function decodeClaimed(recovered: readonly Row[], taken: readonly Row[], next: Row): Claimed {
  const due = [numberOrNull(next.run_at_ms), numberOrNull(next.lease_until_ms)].filter((ms) => ms !== null);
  return {
    tasks: taken.map(decodeTask).sort(byClaimOrder),
    recovered: recovered.map((row) => String(row.status) as TaskStatus),
    nextDueAtMs: due.length === 0 ? null : Math.min(...due),
    nowMs: Number(next.now_ms),
  };
}

/** Extends leases; a task that is absent from the result is no longer held. */
export function renewLeases(target: Target, held: readonly Held[], leaseMs: number): Operation<Renewed[]> {
  const leases_json = JSON.stringify(held.map(({ id, workerId }) => ({ id, worker_id: workerId })));
  const values = { leases_json, lease_ms: leaseMs };
  return single("heartbeat", bind(target, "renew_leases", values), (rows) => {
    const renewed = new Map(rows.map((row) => [row.id, decodeRenewed(row)]));
    return held.flatMap(({ id }) => renewed.get(id) ?? []);
  });
}

function decodeRenewed(row: Row): Renewed {
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
  held: Held,
  report: ProgressReport,
): Operation<Renewed | null> {
  const values = { id: held.id, worker_id: held.workerId, ...report };
  return single("progress", bind(target, "update_progress", values), ([row]) =>
    row ? decodeRenewed(row) : null,
  );
}
