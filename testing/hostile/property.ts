// Fills the tables with hostile rows, runs the statements of a claim, and checks what must hold of their answers.

import type { Dialect, Row } from "../../src/core/executor.ts";
import { decodeTask } from "../../src/core/operations/decode-task.ts";
import type { DialectClient } from "../statement-clients.ts";
import { PLAIN_CLAIM, seededRandom } from "../task-input.ts";
import { hostileRow, insertOf, NOW_MS, plainRow, QUEUES } from "./rows.ts";

const LANES = [
  { queue: "default", name: "send", quota: 7 },
  { queue: "default", name: "", quota: 7 },
  { queue: "mail", name: null, quota: 7 },
];

/** Due tasks whose id a worker can send, by lane and in the order of claims. */
const DUE: Record<Dialect, string> = {
  sqlite: `id > '' and typeof(id) = 'text' and instr(id, char(0)) = 0`,
  postgres: "true",
};

function check(holds: boolean, what: string, about: unknown): void {
  if (!holds) throw new Error(`${what}: ${JSON.stringify(about)}`);
}

/** Fills the tables with hostile rows, runs every statement of a claim, and says what does not hold. */
export async function checkRounds(dialect: Dialect, client: DialectClient, rounds: number): Promise<number> {
  let taken = 0;
  for (let round = 0; round < rounds; round++) taken += await checkRound(dialect, client, round);
  return taken;
}

async function checkRound(dialect: Dialect, client: DialectClient, round: number): Promise<number> {
  const random = seededRandom(round * 7919 + 1);
  const limited = round % 2 === 1;
  await client.query("delete from wadi_failures");
  await client.query("delete from wadi_limits");
  await client.query("delete from cairnq_tasks");
  const rows = Array.from({ length: random(40) }, (_, n) => hostileRow(dialect, random, n));
  if (!limited) for (const { cells } of rows) (cells as Record<string, string>).concurrency_key = "''";
  const plain = Array.from({ length: 6 }, (_, n) => plainRow(n, QUEUES[n % 2]!));
  for (const inserted of [rows, plain]) if (inserted.length > 0) await client.query(insertOf(inserted));
  await client.query(
    `insert into wadi_limits (key, concurrency, updated_at_ms)
     select distinct concurrency_key, 1000, 0 from cairnq_tasks where concurrency_key <> ''`,
  );
  if (dialect === "sqlite") await client.run("insert_crashes", { now_ms: NOW_MS });
  await client.run("recover_leases", { scope: null, now_ms: NOW_MS });
  const lanes_json = JSON.stringify(
    LANES.map((lane) => (round % 4 < 2 ? lane : { ...lane, rank: random(3) })),
  );
  await client.run("select_next_due", { lanes_json, schedule_group: null, now_ms: NOW_MS });

  const due = await dueByLane(dialect, client);
  const [claimed, order] = await claimAll(client, lanes_json, limited);
  const about = { round, dialect, limited };
  const expected = [...due.values()].flat().sort();
  check(
    JSON.stringify([...order].sort()) === JSON.stringify(expected),
    "not every due task was claimed once",
    { ...about, expected, order },
  );
  // A limited claim that finds more than it may take skips rows by the digits of its cursor.
  const exact = limited && dialect === "sqlite" ? await exactIds(client) : null;
  for (const all of due.values()) {
    const lane = all.filter((id) => exact?.has(id) ?? true);
    const ids = order.filter((id) => lane.includes(id));
    check(JSON.stringify(ids) === JSON.stringify(lane), "a lane was claimed out of order", {
      ...about,
      lane,
      ids,
    });
  }
  await settleAll(client, claimed);
  const [next] = await client.run("select_next_due", { lanes_json, schedule_group: null, now_ms: NOW_MS });
  const isLeft = ["run_at_ms", "limited_at_ms"].some(
    (column) => next![column] !== null && Number(next![column]) <= NOW_MS,
  );
  check(!isLeft, "a task that no claim takes counts as due", { ...about, next });
  return order.length;
}

async function dueByLane(dialect: Dialect, client: DialectClient): Promise<Map<string, string[]>> {
  const rows = await client.query(`
    select id, queue, name, concurrency_key from cairnq_tasks
    where status = 'queued' and run_at_ms <= ${NOW_MS} and (queue = 'mail' or name in ('send', '')) and ${DUE[dialect]}
    order by priority desc, run_at_ms, id`);
  const lanes = Map.groupBy(rows, (row) => JSON.stringify([row.queue, row.name, row.concurrency_key]));
  return new Map([...lanes].map(([lane, tasks]) => [lane, tasks.map(({ id }) => String(id))]));
}

/** Tasks whose priority and due time fit into the digits of a cursor. */
async function exactIds(client: DialectClient): Promise<Set<string>> {
  const rows = await client.query(`
    select id from cairnq_tasks
    where typeof(priority) = 'integer' and priority between -2147483648 and 2147483647
      and typeof(run_at_ms) = 'integer' and run_at_ms > -1000000000000000`);
  return new Set(rows.map(({ id }) => String(id)));
}

/** Claims until nothing is left. The ids are in the order of the claims, then of their rows. */
async function claimAll(
  client: DialectClient,
  lanes_json: string,
  limited: boolean,
): Promise<[claimed: Row[], order: string[]]> {
  const claimed: Row[] = [];
  const order: string[] = [];
  for (let n = 0; ; n++) {
    check(n < 100, "claims do not end", order);
    const values = {
      lanes_json,
      worker_id: `w:${n}`,
      lease_ms: 1000,
      max_tasks: 1 + (n % 5),
      ...PLAIN_CLAIM,
      now_ms: NOW_MS,
    };
    const rows = await client.run(limited ? "claim_limited_tasks" : "claim_tasks", values);
    if (limited) await client.run("insert_limit_starts", { worker_id: `w:${n}` });
    if (rows.length === 0) return [claimed, order];
    claimed.push(...rows);
    const ids = rows.map(({ id }) => id);
    check(
      (await client.run("select_claimed", { worker_id: `w:${n}` })).length === ids.length,
      "not found again",
      ids,
    );
    const sorted = await client.query(
      `select id from cairnq_tasks where worker_id = 'w:${n}' order by priority desc, run_at_ms, id`,
    );
    order.push(...sorted.map(({ id }) => String(id)));
  }
}

/** Each task that Wadi can read must be settled with the values it read; a plain task always is. */
async function settleAll(client: DialectClient, claimed: readonly Row[]): Promise<void> {
  const tasks = claimed.map(decodeTask);
  const held = tasks.map(({ id, workerId, attempt }) => ({ id, worker_id: workerId, attempt }));
  await client.run("renew_leases", { leases_json: JSON.stringify(held), lease_ms: 1000, now_ms: NOW_MS });
  const outcomes = ["complete", "release", "fail"];
  const error = { code: "handler_error" };
  const settlements = held.map((lease, n) => ({
    ...lease,
    outcome: outcomes[n % 2]!,
    result: 1,
    delay_ms: 9e9,
  }));
  const settled = await client.run("settle_tasks", {
    settlements_json: JSON.stringify(settlements),
    now_ms: NOW_MS,
  });
  const ids = new Set(settled.map(({ id }) => id));
  for (const { id, attempt } of tasks)
    check(ids.has(id) || !Number.isSafeInteger(attempt), "a settlement found no task", {
      id,
      attempt,
      error,
    });
}
