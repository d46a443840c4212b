import { decodeTask } from "../codec.ts";
import type { Row, Statement } from "../executor.ts";
import { byteLength } from "../json.ts";
import type { Operation, Target } from "../operation.ts";
import { bind } from "../statement.ts";
import { type ErrorEnvelope, isTerminal, type Task, type TaskStatus } from "../task.ts";
import {
  type Claimed,
  type ClaimRequest,
  claimStatements,
  decodeClaimed,
  type Held,
  takeStatements,
} from "./lease.ts";

/**
 * How an attempt ended.
 *
 * `complete` yields to a requested cancel, `succeed` does not. `retry` queues again while attempts are
 * left, `fail` is for good, `release` hands the task back without spending the attempt.
 */
export type Outcome =
  | { readonly outcome: "complete" | "succeed"; readonly resultJson: string }
  | { readonly outcome: "retry"; readonly error: ErrorEnvelope; readonly delayMs: number }
  | { readonly outcome: "fail"; readonly error: ErrorEnvelope }
  | { readonly outcome: "release"; readonly delayMs: number };

export type Settlement = Held & { readonly attempt: number } & Outcome;

export interface Settled {
  readonly id: string;
  /** What the task became; null if its lease was lost and nothing was written. */
  readonly status: TaskStatus | null;
}

function settlementJson(settlement: Settlement): string {
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

/** One statement for all, or several of the same batch where the results are larger than one parameter. */
function settleStatements(target: Target, settlements: readonly Settlement[], maxBytes: number): Statement[] {
  const statements: Statement[] = [];
  let parts: string[] = [];
  let bytes = 0;
  const flush = () => {
    if (parts.length === 0) return;
    const values = { settlements_json: `[${parts.join(",")}]`, now_ms: target.nowMs };
    statements.push(bind(target.dialect, "settle_tasks", values));
    parts = [];
    bytes = 0;
  };
  for (const settlement of settlements) {
    const json = settlementJson(settlement);
    const size = json.length * 3 < 4096 ? json.length * 3 : byteLength(json);
    if (bytes + size > maxBytes) flush();
    parts.push(json);
    bytes += size + 1;
  }
  flush();
  return statements;
}

function decodeSettled(settlements: readonly Settlement[], rows: readonly Row[]): Settled[] {
  const byId = new Map(rows.map((row) => [row.id, String(row.status) as TaskStatus]));
  return settlements.map(({ id }) => ({ id, status: byId.get(id) ?? null }));
}

/** What a lost first try may have done shows in the row: the token stays on a terminal one, a requeued one has no owner. */
function decodeResettled(
  settlements: readonly Settlement[],
  rows: readonly Row[],
  tasks: readonly Row[],
): Settled[] {
  const byId = new Map(tasks.map((row) => [String(row.id), decodeTask(row)]));
  return decodeSettled(settlements, rows).map((settled, i) => {
    const task = byId.get(settled.id);
    if (settled.status !== null || task === undefined) return settled;
    return { id: settled.id, status: wasSettledBy(settlements[i]!, task) ? task.status : null };
  });
}

function wasSettledBy(settlement: Settlement, task: Task): boolean {
  if (isTerminal(task.status))
    return task.workerId === settlement.workerId && task.attempt === settlement.attempt;
  if (task.status !== "queued" || task.workerId !== null) return false;
  if (settlement.outcome === "release") return task.attempt === settlement.attempt - 1;
  return settlement.outcome === "retry" && task.attempt === settlement.attempt;
}

/** Ends attempts. Every settlement carries its own outcome; cancel wins. */
export function settle(
  target: Target,
  settlements: readonly Settlement[],
  maxBytes: number,
): Operation<Settled[]> {
  const statements = settleStatements(target, settlements, maxBytes);
  return {
    name: "settle",
    statements,
    decode: (results) => decodeSettled(settlements, results.flat()),
    resend: () => ({
      name: "settle",
      statements: [...statements, readSettled(target, settlements)],
      decode: (results) => decodeResettled(settlements, results.slice(0, -1).flat(), results.at(-1)!),
    }),
  };
}

function readSettled(target: Target, settlements: readonly Settlement[]): Statement {
  return bind(target.dialect, "select_tasks", { ids_json: JSON.stringify(settlements.map(({ id }) => id)) });
}

export interface Cycled {
  readonly settled: Settled[];
  readonly claimed: Claimed;
}

/** The round trip of a drain: settle what finished, recover, claim into the free slots, and the next due time. */
export function cycle(
  target: Target,
  settlements: readonly Settlement[],
  request: ClaimRequest,
  maxBytes: number,
): Operation<Cycled> {
  const settling = settleStatements(target, settlements, maxBytes);
  const taking = takeStatements(target, request);
  return {
    name: "cycle",
    statements: [...settling, ...claimStatements(target, request, taking)],
    decode: (results) => ({
      settled: decodeSettled(settlements, results.slice(0, settling.length).flat()),
      claimed: decodeClaimed(results.slice(settling.length), taking.length),
    }),
    resend: () => {
      const adopting = [bind(target.dialect, "select_claimed", { worker_id: request.workerId })];
      return {
        name: "cycle",
        statements: [
          ...settling,
          readSettled(target, settlements),
          ...claimStatements(target, request, adopting),
        ],
        decode: (results) => ({
          settled: decodeResettled(
            settlements,
            results.slice(0, settling.length).flat(),
            results[settling.length]!,
          ),
          claimed: decodeClaimed(results.slice(settling.length + 1), adopting.length),
        }),
      };
    },
  };
}
