import type { Dialect, Row } from "../../src/core/executor.ts";
import type { Wadi } from "../../src/index.ts";

// Triggers record who claims a task and how it ends, so that no code under test is trusted.
const COLUMNS = "task_id, was, became, attempt, owner, lease_until_ms, at_ms, result";
const MOVED = `
  old.status <> new.status or old.attempt <> new.attempt or old.worker_id <> new.worker_id
  or old.status in ('succeeded', 'failed', 'canceled')`;
const VALUES = (resultAsText: string) => `
  old.id, old.status, new.status, new.attempt, coalesce(new.worker_id, old.worker_id), old.lease_until_ms,
  new.updated_at_ms, ${resultAsText}`;

const SETUP: Record<Dialect, string[]> = {
  sqlite: [
    `create table moves (n integer primary key, ${COLUMNS})`,
    `create trigger record_move after update on cairnq_tasks when ${MOVED}
     begin insert into moves (${COLUMNS}) values (${VALUES("new.result")}); end`,
  ],
  postgres: [
    `create table moves (
       n bigint generated always as identity, task_id text, was text, became text, attempt integer, owner text,
       lease_until_ms bigint, at_ms bigint, result text)`,
    `create function record_move() returns trigger language plpgsql as $$
     begin insert into moves (${COLUMNS}) values (${VALUES("new.result::text")}); return null; end $$`,
    `create trigger record_move after update on cairnq_tasks for each row
     when (${MOVED}) execute function record_move()`,
  ],
};

/** One change of a task's status, attempt or owner. */
export interface Move {
  readonly task: string;
  readonly was: string;
  readonly became: string;
  readonly attempt: number;
  /** The owner of the lease that began or ended. */
  readonly owner: string;
  /** When the lease that this change ended would have expired. */
  readonly leaseUntilMs: number;
  readonly atMs: number;
  /** The result of the handler, which names its claim. */
  readonly result: { readonly owner: string; readonly attempt: number } | null;
}

/** Creates the tables, and a trigger that records every move of every task from now on. */
export async function startAudit(wadi: Wadi): Promise<void> {
  await wadi.migrate();
  for (const sql of SETUP[wadi.executor.dialect]) await wadi.executor.run({ sql, params: [] });
}

export async function readMoves(wadi: Wadi): Promise<Move[]> {
  const rows = await query(wadi, `select ${COLUMNS} from moves order by n`);
  return rows.map((row) => ({
    task: String(row.task_id),
    was: String(row.was),
    became: String(row.became),
    attempt: Number(row.attempt),
    owner: String(row.owner),
    leaseUntilMs: Number(row.lease_until_ms),
    atMs: Number(row.at_ms),
    result: row.result === null ? null : JSON.parse(String(row.result)),
  }));
}

/**
 * The violations in the history of these tasks; none if each is claimed and released in turn,
 * attempt by attempt, and ends once, as succeeded, by the claim that holds it and before its lease expires.
 */
export function findFaults(moves: readonly Move[], tasks: readonly string[]): string[] {
  const faults: string[] = [];
  const movesOf = Map.groupBy(moves, ({ task }) => task);
  for (const task of tasks) {
    let attempt = 0;
    let owner = "";
    let status = "queued";
    for (const move of movesOf.get(task) ?? []) {
      const check = (holds: boolean, what: string) => {
        if (!holds) faults.push(`${what}: ${JSON.stringify(move)}`);
      };
      check(move.was === status, `a move from another status than ${status}`);
      if (move.became === "running") {
        check(move.was === "queued", "taken from its owner");
        check(move.attempt === attempt + 1, `not attempt ${attempt + 1}`);
        ({ attempt, owner } = move);
      } else {
        check(move.was === "running", "moved without an owner");
        // A release before the start does not count as an attempt.
        const isRelease = move.became === "queued" && move.attempt === attempt - 1;
        const isAttempt = move.attempt === attempt || isRelease;
        check(isAttempt && move.owner === owner, `not by ${owner}, attempt ${attempt}`);
        if (isRelease) attempt--;
      }
      if (move.became === "succeeded") {
        check(move.result?.owner === owner && move.result.attempt === attempt, "settled by another owner");
        check(move.atMs < move.leaseUntilMs, "settled after its lease");
      }
      status = move.became;
    }
    if (status !== "succeeded") faults.push(`${task} ended as ${status}`);
  }
  return faults;
}

/** Reads the database without Wadi's statements. */
export function query(wadi: Wadi, sql: string): Promise<Row[]> {
  return wadi.executor.run({ sql, params: [] });
}
