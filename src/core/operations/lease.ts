import { byClaimOrder, decodeTask, numberOrNull } from "../codec.ts";
import type { Row, Statement } from "../executor.ts";
import type { Operation, Target } from "../operation.ts";
import type { QueryMeter } from "../session/query-meter.ts";
import { bind } from "../statement.ts";
import type { Task, TaskStatus } from "../task.ts";
import { nowAndAhead } from "./claim-parts.ts";
import { fitting, learn, type OversizedTask, tasksAsked, WEIGHS_NOTHING, type Weighing } from "./weigh.ts";

/** Most names of unhandled tasks that a claim reports. */
const MAX_UNHANDLED = 20;

/** Where a claim may take from: a queue and a name (null: every name), at most `quota` tasks. */
export interface Lane {
  readonly queue: string;
  readonly name: string | null;
  readonly quota: number;
  /**
   * How many tasks of the lane are in play already. Lanes with a rank take turns: within a priority the one with the
   * smallest rank + taken goes first. Without ranks a claim goes by due time alone.
   */
  readonly rank?: number;
  /** Keys of limits that were served lately: among tenants of the same rank the others go first. */
  readonly served?: readonly string[];
  /** How many of the quota are for later. */
  readonly ahead?: number;
}

/** Lanes that share free slots. */
export interface ClaimPool {
  readonly lanes: readonly Lane[];
  /** Most tasks over all its lanes. 0 claims none, and the lanes count for the next due time only. */
  readonly limit: number;
  /**
   * How many of them are claimed for later: they start only after a settlement announced it. If the worker vanishes
   * before, they are not charged for it.
   */
  readonly ahead?: number;
}

export interface ClaimRequest {
  /** A lane belongs to one pool. If no pool has a limit, leases are recovered and the next due time is asked for. */
  readonly pools: readonly ClaimPool[];
  /** Lease token, used for this claim alone. */
  readonly workerId: string;
  readonly leaseMs: number;
  /** Whether to take tasks with fleet-wide limits too, which costs more: ask for it after a claim said `limited`. */
  readonly limited: boolean;
  /**
   * Whether the claimer announces what it starts of tasks that are held: those whose worker vanished before, and those
   * that are claimed ahead. Without that nothing is held.
   */
  readonly announces?: boolean | undefined;
  /** What the last claim said about large tasks. Without it nothing is known of any. */
  readonly weighing?: Weighing | undefined;
  /** Whether to claim only: no lease is recovered, and when more is due is not asked. For where queries are few. */
  readonly brief?: boolean;
  /** Whether to ask for due tasks in the queues of the lanes that no lane takes. */
  readonly unhandled?: boolean;
}

/** Due tasks of one name that a worker has no handler for. */
export interface UnhandledTasks {
  readonly name: string;
  readonly queue: string;
  /** 100 stands for that many or more. */
  readonly tasks: number;
}

/** A task whose lease ran out. */
export interface RecoveredTask {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly attempt: number;
  readonly status: TaskStatus;
}

export interface ClaimResult {
  /** By priority, due time and id. */
  readonly tasks: Task[];
  /** The length of each task's payload as JSON text, in the order of `tasks`. */
  readonly bytes: number[];
  /** What each task is limited by over the whole fleet, in the order of `tasks`; empty if by nothing. */
  readonly limitKeys: string[];
  /** Of each task, whether it must not start before that is announced, in the order of `tasks`. */
  readonly held: boolean[];
  /** Tasks whose lease ran out, by what became of them. */
  readonly recovered: readonly RecoveredTask[];
  /** When the next task of the lanes is due or the next lease of any task runs out; null if there is neither. */
  readonly nextDueAtMs: number | null;
  readonly nowMs: number;
  /** Whether tasks with fleet-wide limits are queued in the lanes: the next claim should be a limited one. */
  readonly limited: boolean;
  /** It says what an earlier try under the same token claimed, and claimed nothing itself: there may be more. */
  readonly resent: boolean;
  /** For the next claim. */
  readonly weighing: Weighing;
  /** Whether the next claim may bring tasks that this one left out for their size. */
  readonly leftLarge: boolean;
  /** Due tasks that no claim through this database client can bring. */
  readonly oversized: readonly OversizedTask[];
  /** It says only what was claimed. */
  readonly brief: boolean;
  /** Null if that was not asked. */
  readonly unhandled: readonly UnhandledTasks[] | null;
}

/** A task and the token of the claim that holds it. */
export interface LeaseRef {
  readonly id: string;
  readonly workerId: string;
  /** Counts what is submitted under it. */
  readonly meter?: QueryMeter | undefined;
}

export interface LeaseRenewal {
  readonly id: string;
  readonly cancelRequested: boolean;
}

/**
 * Recovers expired leases, claims for each pool, and learns when the next task is due. A resend finds again what a
 * lost first try claimed under the same token.
 */
export function claim(
  target: Target,
  request: ClaimRequest,
  maxBytes: number | null = null,
): Operation<ClaimResult> {
  const { workerId: worker_id, leaseMs, limited, weighing = WEIGHS_NOTHING, announces = false } = request;
  const pools = fitting(request.pools, maxBytes, weighing);
  const asked = tasksAsked(pools);
  const size = {
    max_task_bytes: maxBytes === null || asked === 0 ? null : Math.floor(maxBytes / asked),
    weighs: Number(weighing.weighs && asked > 0),
  };
  // In one batch, so that what is taken for one pool is counted for the next.
  const takes = pools
    .filter(({ limit }) => limit > 0)
    .flatMap(nowAndAhead)
    .flatMap(({ lanes, limit, ahead = 0 }) => {
      const lanes_json = JSON.stringify(lanes);
      const max = { max_tasks: limit, holds: ahead > 0 ? 2 : Number(announces) };
      const values = { lanes_json, worker_id, lease_ms: leaseMs, ...max, ...size };
      if (!limited) return [bind(target, "claim_tasks", values)];
      return [
        bind(target, "claim_limited_tasks", values),
        bind(target, "insert_limit_starts", { worker_id }),
      ];
    });
  if (limited && takes.length > 0) {
    if (target.dialect === "postgres") takes.unshift(bind(target, "lock_limits", {}));
    takes.push(bind(target, "delete_limit_starts", { worker_id }));
  }
  const lanes_json = JSON.stringify(pools.flatMap(({ lanes }) => lanes));
  const recover = recoverLeases(target);
  const { max_task_bytes } = size;
  const heavy =
    size.weighs === 0
      ? []
      : [bind(target, "select_heavy_tasks", { lanes_json, max_task_bytes: max_task_bytes! })];
  const next = bind(target, "select_next_due", { lanes_json });
  const unhandled = request.unhandled
    ? [bind(target, "select_unhandled", { lanes_json, max_names: MAX_UNHANDLED })]
    : [];
  const build = (takes: readonly Statement[], resent: boolean): Operation<ClaimResult> => ({
    name: "claim",
    mayBeLost: true, // the task is queued then, as if its worker had been killed
    statements: [...recover, ...takes, ...heavy, next, ...unhandled],
    decode: (results) => {
      const end = recover.length + takes.length;
      const taken = results.slice(recover.length, end).flat();
      const large = heavy.length === 0 ? [] : results[end]!;
      const [nextRow] = results[end + heavy.length]!;
      const claimed = {
        ...decodeClaimed(results[recover.length - 1]!, taken, nextRow!, resent),
        unhandled: unhandled.length === 0 ? null : results.at(-1)!.map(decodeUnhandled),
      };
      if (maxBytes === null) return claimed;
      return {
        ...claimed,
        ...weighed(claimed, { weighing, maxBytes, asked, limits: request.pools }, taken, large),
      };
    },
  });
  const first: Operation<ClaimResult> =
    request.brief && takes.length > 0
      ? { name: "claim", mayBeLost: true, statements: takes, decode: decodeBrief }
      : build(takes, false);
  return {
    ...first,
    resend: () => build([bind(target, "select_claimed", { worker_id })], true),
  };
}

/** What a claim says about large tasks. */
function weighed(
  { tasks, nextDueAtMs, nowMs }: ClaimResult,
  request: { weighing: Weighing; maxBytes: number; asked: number; limits: readonly ClaimPool[] },
  rows: readonly Row[],
  large: readonly Row[],
): Partial<ClaimResult> {
  const { weighing: before, maxBytes, asked, limits } = request;
  const isShort = tasks.length < asked && nextDueAtMs !== null && nextDueAtMs <= nowMs;
  const taken = rows.filter(({ id }) => id !== undefined);
  const heavy = large.map(decodeLarge);
  const weighing = learn(before, maxBytes, tasksAsked(limits), { taken, heavy, isShort, nowMs });
  const isNew = weighing.weighs && (!before.weighs || weighing.bytes !== before.bytes);
  const oversized = heavy.filter(({ bytes }) => bytes > maxBytes);
  // All that is due and has a slot is too large for any claim: for this client something is due later.
  const isStuck = isShort && oversized.length > 0 && oversized.length === heavy.length;
  return {
    weighing,
    leftLarge: isNew || (weighing.bytes > 0 && tasks.length > 0),
    oversized,
    ...(isStuck && { nextDueAtMs: numberOrNull(large[0]!.next_ms) }),
  };
}

function decodeLarge({ id, name, queue, bytes }: Row): OversizedTask {
  return { id: String(id), name: String(name), queue: String(queue), bytes: Number(bytes) };
}

/** Ends with the statement that tells what was recovered. */
function recoverLeases(target: Target): Statement[] {
  const recover = bind(target, "recover_leases", {});
  return target.dialect === "sqlite" ? [bind(target, "insert_crashes", {}), recover] : [recover];
}

function decodeClaimed(
  recovered: readonly Row[],
  taken: readonly Row[],
  next: Row,
  resent: boolean,
): ClaimResult {
  // Of keys at their concurrency there is no time to tell, and the largest number stands for it.
  const due = [next.run_at_ms, next.lease_until_ms, next.limited_at_ms]
    .filter((ms) => ms !== null)
    .map(Number)
    .filter((ms) => ms < Number.MAX_SAFE_INTEGER); // of a text in the place of a time there is none either
  return {
    ...decodeTasks(taken),
    recovered: recovered.map(decodeRecovered),
    nextDueAtMs: due.length === 0 ? null : Math.ceil(Math.min(...due)),
    nowMs: numberOrNull(next.now_ms)!,
    limited: next.limited_at_ms !== null,
    resent,
    brief: false,
    ...UNWEIGHED,
  };
}

function decodeUnhandled({ queue, name, tasks }: Row): UnhandledTasks {
  return { name: String(name), queue: String(queue), tasks: Number(tasks) };
}

const UNWEIGHED = { weighing: WEIGHS_NOTHING, leftLarge: false, oversized: [], unhandled: null };

function decodeBrief(results: readonly Row[][]): ClaimResult {
  const claimed = decodeTasks(results.flat());
  const nowMs = Math.max(0, ...claimed.tasks.map(({ updatedAtMs }) => updatedAtMs));
  const unknown = { recovered: [], nextDueAtMs: null, limited: false, resent: false, ...UNWEIGHED };
  return { ...claimed, ...unknown, nowMs, brief: true };
}

function decodeTasks(taken: readonly Row[]): Pick<ClaimResult, "tasks" | "bytes" | "limitKeys" | "held"> {
  // RETURNING promises no order.
  const claimed = taken
    .filter(({ id }) => id !== undefined)
    .map((row) => ({
      task: decodeTask(row),
      bytes: String(row.payload).length,
      limitKey: String(row.concurrency_key ?? ""),
      isHeld: row.hold === row.worker_id,
    }))
    .sort((a, b) => byClaimOrder(a.task, b.task));
  return {
    tasks: claimed.map(({ task }) => task),
    bytes: claimed.map(({ bytes }) => bytes),
    limitKeys: claimed.map(({ limitKey }) => limitKey),
    held: claimed.map(({ isHeld }) => isHeld),
  };
}

function decodeRecovered({ id, name, queue, attempt, status }: Row): RecoveredTask {
  const [texts, count] = [{ id, name, queue, status } as Record<string, string>, Number(attempt)];
  return {
    id: texts.id!,
    name: texts.name!,
    queue: texts.queue!,
    attempt: count,
    status: texts.status as TaskStatus,
  };
}
