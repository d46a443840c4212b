/** Wake-ups: who has to kick a drain, answered in the round trip of a submit or a claim, or in a separate one. */

import type { Row, Statement } from "../executor.ts";
import { numberOrNull } from "./decode-task.ts";
import type { Operation, SqlTarget } from "./operation.ts";
import { bind } from "./statement.ts";
import type { NewTask } from "./submit.ts";

/** Most kicks in a row by drains that end no task. */
export const MAX_HOPS = 10;

/** A queue that got tasks of these names, the earliest of them due then. */
export interface KickRequest {
  readonly queue: string;
  readonly names: readonly string[];
  readonly runAtMs?: number | undefined;
  /** From the database's present. */
  readonly delayMs?: number | undefined;
}

/** A kick that the caller has to send: nothing else makes sure that the queue's tasks are claimed. */
export interface TakenKick {
  readonly queue: string;
  /** When it is due, in epoch milliseconds; null: now. */
  readonly atMs: number | null;
}

/** What a queue's row of `wadi_wakes` says to a drain. */
export interface WakeState {
  readonly queue: string;
  readonly hops: number;
  readonly delayedAtMs: number | null;
}

/** What a claim says about its drain to the submits that follow. */
export interface WakeMark {
  /** Each queue with the names that the drain has room for. */
  readonly wakes: readonly { readonly queue: string; readonly names?: readonly string[] }[];
  /** The drain, in every one of its claims. */
  readonly owner: string;
  /** The lease token of the claim. */
  readonly workerId: string;
  readonly leaseMs: number;
  /** Whether the drain claims again even if this claim takes no task. */
  readonly keeps: boolean;
  /** Whether it is the first claim of the drain, and so clears the kicks that may have started it. */
  readonly isFirst: boolean;
}

/** The queues of these tasks, each with when the first of them is due. Past times of the program are due times. */
export function kickRequests(tasks: readonly NewTask[]): KickRequest[] {
  const byQueue = Map.groupBy(tasks, ({ columns }) => columns.queue);
  return [...byQueue].map(([queue, queued]) => {
    const due = queued.filter(({ columns }) => columns.run_at_ms === null && columns.delay_ms === 0);
    const counted = due.length > 0 ? due : queued;
    const names = [...new Set(counted.map(({ columns }) => columns.name))];
    if (due.length > 0) return { queue, names, delayMs: 0 };
    const runAts = queued.flatMap(({ columns }) => columns.run_at_ms ?? []);
    const delays = queued.flatMap(({ columns }) => (columns.run_at_ms === null ? columns.delay_ms : []));
    return { queue, names, runAtMs: least(runAts), delayMs: least(delays) };
  });
}

/**
 * The operation, which in the same round trip also says whom to kick for what it queued. If its first answer is lost,
 * so is what it took: then every queue is to be kicked.
 */
export function withKicks<T>(
  target: SqlTarget,
  operation: Operation<T>,
  requests: readonly KickRequest[],
  canDelay: boolean,
): Operation<[T, TakenKick[]]> {
  const take = takeStatement(target, requests, canDelay);
  return {
    ...operation,
    statements: [...operation.statements, take],
    decode: (results) => [operation.decode(results.slice(0, -1)), results.at(-1)!.map(decodeTaken)],
    resend: () => {
      const resent = withKicks(target, operation.resend?.() ?? operation, requests, canDelay);
      return {
        ...resent,
        decode: (results) => [
          resent.decode(results)[0],
          allOf(requests, results.at(-1)!.map(decodeTaken), canDelay),
        ],
      };
    },
  };
}

/** `withKicks` for the submit of one task without a key, as one statement; null if the operation is another one. */
export function withKick<T>(
  target: SqlTarget,
  operation: Operation<T>,
  [task, ...others]: readonly NewTask[],
  canDelay: boolean,
): Operation<[T, TakenKick[]]> | null {
  const isAlone = task !== undefined && others.length === 0 && operation.statements.length === 1;
  if (target.dialect !== "postgres" || !isAlone || task.key !== null) return null;
  const { columns } = task;
  const { queue } = columns;
  return {
    ...operation,
    statements: [bind(target, "insert_kicking_task", { ...columns, can_delay: Number(canDelay) })],
    decode: ([rows]) => {
      const kicks = rows!.flatMap(({ is_kicked, at_ms }) =>
        Number(is_kicked) === 1 ? [{ queue, atMs: numberOrNull(at_ms) }] : [],
      );
      return [operation.decode([rows!]), kicks];
    },
    resend: () => {
      const both = withKicks(target, operation, kickRequests([task]), canDelay);
      return both.resend!();
    },
  };
}

/** Takes the kicks for tasks that are committed already. */
export function takeKicks(
  target: SqlTarget,
  requests: readonly KickRequest[],
  canDelay: boolean,
): Operation<TakenKick[]> {
  const nothing: Operation<null> = { name: "kick", statements: [], decode: () => null };
  const { resend, ...operation } = withKicks(target, nothing, requests, canDelay);
  const second = ([, kicks]: [null, TakenKick[]]) => kicks;
  return {
    ...operation,
    decode: (results) => second(operation.decode(results)),
    resend: () => ({ ...operation, decode: (results) => second(resend!().decode(results)) }),
  };
}

/** The claim, which in the same round trip says to submits that its drain goes on, or that it does not. */
export function claimWithMark<T>(
  target: SqlTarget,
  claim: Operation<T>,
  mark: WakeMark | null,
): Operation<[T, WakeState[] | null]> {
  if (mark === null) {
    return {
      ...claim,
      decode: (results) => [claim.decode(results), null],
      resend: () => claimWithMark(target, claim.resend?.() ?? claim, null),
    };
  }
  const { wakes, owner, workerId: worker_id, leaseMs: lease_ms, keeps, isFirst } = mark;
  const queues_json = JSON.stringify(wakes.map(({ queue }) => queue));
  const lock = lockWakes(target, queues_json);
  const marks = {
    wakes_json: JSON.stringify(wakes),
    owner,
    worker_id,
    lease_ms,
    keeps: Number(keeps),
    clears: Number(isFirst),
  };
  const select = isFirst ? [bind(target, "select_wakes", { queues_json })] : [];
  const end = lock.length + claim.statements.length;
  return {
    ...claim,
    statements: [...lock, ...claim.statements, bind(target, "mark_wakes", marks), ...select],
    decode: (results) => [
      claim.decode(results.slice(lock.length, end)),
      isFirst ? results[end + 1]!.map(decodeState) : null,
    ],
    resend: () => claimWithMark(target, claim.resend?.() ?? claim, mark),
  };
}

/** Takes the kicks by which a drain starts the next one; each with its number since a drain last ended a task. */
export function takeHops(
  target: SqlTarget,
  queues: readonly string[],
  { owner, hop, progressed }: { owner: string; hop: number; progressed: boolean },
): Operation<{ queue: string; hop: number }[]> {
  const queues_json = JSON.stringify(queues);
  const values = { queues_json, owner, hop, progressed: Number(progressed), max_hops: MAX_HOPS };
  const statements = [...lockWakes(target, queues_json), bind(target, "take_hops", values)];
  const decode = (results: readonly Row[][]) =>
    results.at(-1)!.map((row) => ({ queue: String(row.queue), hop: Number(row.hops) }));
  // The lost try may have taken them.
  const next = progressed ? 1 : hop + 1;
  const all = next > MAX_HOPS ? [] : queues.map((queue) => ({ queue, hop: next }));
  return {
    name: "kick",
    statements,
    decode,
    resend: () => ({ name: "kick", statements, decode: () => all }),
  };
}

/** Starts the count of `takeHops` again. */
export function resetHops(target: SqlTarget, queues: readonly string[]): Operation<null> {
  const statement = bind(target, "reset_hops", { queues_json: JSON.stringify(queues) });
  return { name: "kick", statements: [statement], decode: () => null };
}

/** SQLite has one writer at a time. */
function lockWakes(target: SqlTarget, queues_json: string): Statement[] {
  return target.dialect === "postgres" ? [bind(target, "lock_wakes", { queues_json })] : [];
}

function takeStatement(target: SqlTarget, requests: readonly KickRequest[], canDelay: boolean): Statement {
  const items = requests.map(({ queue, names, runAtMs, delayMs }) => ({
    ...{ queue, names },
    ...{ run_at_ms: runAtMs, delay_ms: delayMs },
  }));
  return bind(target, "take_kicks", { kicks_json: JSON.stringify(items), can_delay: Number(canDelay) });
}

/** What was taken, and the queues of which a lost try may have taken the kick. */
function allOf(
  requests: readonly KickRequest[],
  taken: readonly TakenKick[],
  canDelay: boolean,
): TakenKick[] {
  const isTaken = (queue: string) => taken.some((kick) => kick.queue === queue);
  const rest = requests.filter(({ queue }) => !isTaken(queue));
  return [
    ...taken,
    ...rest.flatMap(({ queue, runAtMs, delayMs }) => {
      const isDue = delayMs === 0;
      if (!isDue && !canDelay) return [];
      const atMs = Math.min(runAtMs ?? Number.POSITIVE_INFINITY, Date.now() + (delayMs ?? 0));
      return [{ queue, atMs: isDue ? null : atMs }];
    }),
  ];
}

function least(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : numbers.reduce((a, b) => Math.min(a, b));
}

function decodeTaken({ queue, at_ms }: Row): TakenKick {
  return { queue: String(queue), atMs: numberOrNull(at_ms) };
}

function decodeState({ queue, hops, delayed_at_ms }: Row): WakeState {
  return { queue: String(queue), hops: Number(hops), delayedAtMs: numberOrNull(delayed_at_ms) };
}
