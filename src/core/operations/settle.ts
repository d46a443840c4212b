/** Settlement: stores how attempts ended, for as long as their worker still holds the lease. */

import type { Row, Statement } from "../executor.ts";
import { type ErrorEnvelope, isTerminal, type TaskStatus } from "../task.ts";
import type { LeaseRef } from "./lease.ts";
import type { Operation, SqlTarget } from "./operation.ts";
import { bind } from "./statement.ts";

/**
 * How an attempt ended.
 *
 * `complete` yields to a requested cancel, `succeed` does not. `retry` queues the task again while attempts are left,
 * `fail` is final, `release` queues the task again without spending the attempt.
 */
export type Outcome =
  | { readonly outcome: "complete" | "succeed"; readonly resultJson: string }
  | { readonly outcome: "retry"; readonly error: ErrorEnvelope; readonly delayMs: number }
  | { readonly outcome: "fail"; readonly error: ErrorEnvelope }
  | { readonly outcome: "release"; readonly delayMs: number };

export type Settlement = LeaseRef & { readonly attempt: number } & Outcome;

/** Records that a claimed task has started, and with it all tasks that the same claim returned before it. */
export type Start = LeaseRef & { readonly attempt: number; readonly outcome: "start" };

export interface SettleResult {
  readonly id: string;
  /** The new status of the task; null if its lease was lost and nothing was written. */
  readonly status: TaskStatus | null;
}

function settlementJson(settlement: Settlement | Start): string {
  const head = JSON.stringify({
    id: settlement.id,
    worker_id: settlement.workerId,
    attempt: settlement.attempt,
    outcome: settlement.outcome,
    delay_ms: "delayMs" in settlement ? settlement.delayMs : undefined,
    error: "error" in settlement ? settlement.error : undefined,
  });
  return "resultJson" in settlement ? `${head.slice(0, -1)},"result":${settlement.resultJson}}` : head;
}

/**
 * One statement for all settlements, or several in the same batch if the results exceed one parameter. On SQLite each
 * statement with failures is preceded by one that records them.
 */
function settleStatements(target: SqlTarget, settlements: readonly (Settlement | Start)[]): Statement[] {
  const maxBytes = target.limits.maxParamBytes;
  const parts: string[][] = [];
  const failures: string[][] = [];
  let bytes = maxBytes;
  for (const settlement of settlements) {
    const json = settlementJson(settlement);
    // An upper bound of the bytes is enough: a split costs a statement but no round trip.
    bytes += json.length * 3 + 1;
    if (bytes > maxBytes) {
      parts.push([]);
      failures.push([]);
      bytes = json.length * 3;
    }
    parts.at(-1)!.push(json);
    if (target.dialect === "sqlite" && "error" in settlement) failures.at(-1)!.push(json);
  }
  const list = (jsons: string[]) => ({ settlements_json: `[${jsons}]` });
  return parts.flatMap((part, i) => [
    ...(failures[i]!.length === 0 ? [] : [bind(target, "insert_failures", list(failures[i]!))]),
    bind(target, "settle_tasks", list(part)),
  ]);
}

function decodeSettled(settlements: readonly LeaseRef[], results: readonly Row[][]): SettleResult[] {
  const byId = new Map(results.flat().map((row) => [row.id, String(row.status) as TaskStatus]));
  return settlements.map(({ id }) => ({ id, status: byId.get(id) ?? null }));
}

/**
 * The row shows whether a lost first try was committed: a terminal task keeps the token, a requeued one has no owner.
 */
function decodeResettled(
  settlements: readonly (Settlement | Start)[],
  results: readonly Row[][],
  tasks: readonly Row[],
): SettleResult[] {
  const byId = new Map(tasks.map((row) => [row.id, decodeOwner(row)]));
  return decodeSettled(settlements, results).map((settled, i) => {
    const task = byId.get(settled.id);
    if (settled.status !== null || task === undefined) return settled;
    return { id: settled.id, status: wasSettledBy(settlements[i]!, task) ? task.status : null };
  });
}

interface Owner {
  readonly status: TaskStatus;
  readonly workerId: string | null;
  readonly attempt: number;
}

function decodeOwner({ status, worker_id, attempt }: Row): Owner {
  return {
    status: String(status) as TaskStatus,
    workerId: worker_id === null ? null : String(worker_id),
    attempt: Number(attempt),
  };
}

function wasSettledBy(settlement: Settlement | Start, task: Owner): boolean {
  if (isTerminal(task.status)) {
    return task.workerId === settlement.workerId && task.attempt === settlement.attempt;
  }
  if (task.status !== "queued" || task.workerId !== null) return false;
  if (settlement.outcome === "release") return task.attempt === settlement.attempt - 1;
  return settlement.outcome === "retry" && task.attempt === settlement.attempt;
}

/** Ends attempts, each with an outcome. A requested cancel takes precedence over all of them except `succeed`. */
export function settle(
  target: SqlTarget,
  settlements: readonly (Settlement | Start)[],
): Operation<SettleResult[]> {
  const statements = settleStatements(target, settlements);
  return {
    name: "settle",
    statements,
    decode: (results) => decodeSettled(settlements, results),
    resend: () => ({
      name: "settle",
      statements: [
        ...statements,
        bind(target, "select_task_owners", { ids_json: JSON.stringify(settlements.map(({ id }) => id)) }),
      ],
      decode: (results) => decodeResettled(settlements, results.slice(0, -1), results.at(-1)!),
    }),
  };
}
