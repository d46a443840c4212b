/** The claim: recovers expired leases, leases due tasks to a worker and asks when the next task is due. */
import type { Statement } from "../executor.ts";
import { type ClaimPool, limitPools, requestedTasks, splitPrefetch } from "./claim-pools.ts";
import {
  NO_SIZES,
  reportSizes,
  type SizedClaim,
  type SizeTracking,
  taskBytesPerResponse,
  tasksThatFit,
} from "./claim-response-size.ts";
import { type ClaimResult, decodeClaim, decodeClaimOnly, isClaimedRow } from "./claim-result.ts";
import type { Operation, SqlTarget } from "./operation.ts";
import { bind } from "./statement.ts";

/** Most names of unhandled tasks that a claim reports. */
const MAX_UNHANDLED = 20;

/** Most expired tasks that a claim ends. */
export const MAX_EXPIRED = 1000;

export interface ClaimRequest {
  /** A lane belongs to one pool. If every limit is 0, the claim only recovers leases and reads the next due time. */
  readonly pools: readonly ClaimPool[];
  /** Lease token, used for this claim alone. */
  readonly workerId: string;
  readonly leaseMs: number;
  /** Whether to claim tasks with fleet-wide limits too, which costs more: set it after a result said `limited`. */
  readonly limited: boolean;
  /**
   * Whether the worker announces the start of tasks that are on hold: those whose worker vanished before, and those
   * that are prefetched. Without it no task is put on hold.
   */
  readonly announces?: boolean | undefined;
  /** The `sizes` of the previous result. */
  readonly sizes?: SizeTracking | undefined;
  /** Whether to end expired tasks first: set it after a result said `expired`. */
  readonly expired?: boolean | undefined;
  /** Recovers no lease and does not ask for the next due time. For platforms that limit the number of queries. */
  readonly claimOnly?: boolean;
  /** Whether to ask for due tasks in the queues of the lanes that no lane covers. */
  readonly unhandled?: boolean;
  /** The group of schedules that the worker defines. @default null */
  readonly scheduleGroup?: string | null;
}

/** A request, and the limits that the size of the response sets to it. */
interface ClaimPlan extends Omit<SizedClaim, "maxBytes"> {
  readonly request: ClaimRequest;
  /** The pools of the request, limited to the tasks that fit. */
  readonly pools: readonly ClaimPool[];
  /** Null: the response is unlimited. */
  readonly maxBytes: number | null;
  readonly maxTaskBytes: number | null;
  readonly measures: boolean;
}

/**
 * Recovers expired leases, claims for each pool, and reads when the next task is due. A resend finds what a lost first
 * try claimed under the same token.
 */
export function claim(target: SqlTarget, request: ClaimRequest): Operation<ClaimResult> {
  const { sizes = NO_SIZES } = request;
  const maxBytes = taskBytesPerResponse(target.limits.maxResponseBytes);
  const pools = limitPools(request.pools, tasksThatFit(maxBytes, sizes));
  const requested = requestedTasks(pools);
  const plan: ClaimPlan = {
    request,
    sizes,
    maxBytes,
    pools,
    wanted: requestedTasks(request.pools),
    requested,
    maxTaskBytes: maxBytes === null || requested === 0 ? null : Math.floor(maxBytes / requested),
    measures: sizes.measures && requested > 0,
  };
  const claims = claimStatements(target, plan);
  const first: Operation<ClaimResult> =
    request.claimOnly && claims.length > 0
      ? { name: "claim", mayBeLost: true, statements: claims, decode: decodeClaimOnly }
      : wholeClaim(target, plan, claims, false);
  const resend = () => [bind(target, "select_claimed", { worker_id: request.workerId })];
  return { ...first, resend: () => wholeClaim(target, plan, resend(), true) };
}

/** All pools are claimed in one batch, so that what one takes is counted for the next. */
function claimStatements(target: SqlTarget, plan: ClaimPlan): Statement[] {
  const { workerId: worker_id, leaseMs: lease_ms, limited, announces = false } = plan.request;
  const sizes = { max_task_bytes: plan.maxTaskBytes, weighs: Number(plan.measures) };
  const parts = plan.pools.filter(({ limit }) => limit > 0).flatMap(splitPrefetch);
  const claims = parts.flatMap(({ lanes, limit, prefetch = 0 }) => {
    const max = { max_tasks: limit, holds: prefetch > 0 ? 2 : Number(announces) };
    const values = { lanes_json: JSON.stringify(lanes), worker_id, lease_ms, ...max, ...sizes };
    if (!limited) return [bind(target, "claim_tasks", values)];
    return [bind(target, "claim_limited_tasks", values), bind(target, "insert_limit_starts", { worker_id })];
  });
  if (!limited || claims.length === 0) return claims;
  const lock = target.dialect === "postgres" ? [bind(target, "lock_limits", {})] : [];
  return [...lock, ...claims, bind(target, "delete_limit_starts", { worker_id })];
}

/** `claims` and the statements around them: recovered leases before, what is due next and what was skipped after. */
function wholeClaim(
  target: SqlTarget,
  plan: ClaimPlan,
  claims: readonly Statement[],
  resent: boolean,
): Operation<ClaimResult> {
  const lanes_json = JSON.stringify(plan.pools.flatMap(({ lanes }) => lanes));
  const recover = recoverLeases(target);
  const expire = plan.request.expired ? [bind(target, "expire_tasks", { max_tasks: MAX_EXPIRED })] : [];
  const skipped = plan.measures
    ? [bind(target, "select_heavy_tasks", { lanes_json, max_task_bytes: plan.maxTaskBytes! })]
    : [];
  const next = bind(target, "select_next_due", {
    lanes_json,
    schedule_group: plan.request.scheduleGroup ?? null,
  });
  const unhandled = plan.request.unhandled
    ? [bind(target, "select_unhandled", { lanes_json, max_names: MAX_UNHANDLED })]
    : [];
  return {
    name: "claim",
    mayBeLost: true, // the task is queued then, as if its worker had been killed
    statements: [...recover, ...expire, ...claims, ...skipped, next, ...unhandled],
    decode: (results) => {
      const begin = recover.length + expire.length;
      const end = begin + claims.length;
      const claimed = results.slice(begin, end).flat();
      const [nextRow] = results[end + skipped.length]!;
      const unhandledRows = unhandled.length === 0 ? null : results.at(-1)!;
      const ended = expire.length === 0 ? [] : results[recover.length]!;
      const result = {
        ...decodeClaim(results[recover.length - 1]!, claimed, nextRow!, unhandledRows, resent),
        ended: ended.map(({ id }) => String(id)),
      };
      const { maxBytes } = plan;
      if (maxBytes === null) return result;
      const skippedRows = skipped.length === 0 ? [] : results[end]!;
      return {
        ...result,
        ...reportSizes({ ...plan, maxBytes }, result, claimed.filter(isClaimedRow), skippedRows),
      };
    },
  };
}

/** Ends with the statement that returns what was recovered. */
function recoverLeases(target: SqlTarget): Statement[] {
  const recover = bind(target, "recover_leases", {});
  return target.dialect === "sqlite" ? [bind(target, "insert_crashes", {}), recover] : [recover];
}
