// Racing statements on Postgres.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Row } from "../../src/core/executor.ts";
import { groupsJson } from "../../testing/groups-json.ts";
import {
  connectStatements,
  createStatementDatabase,
  type StatementClient,
} from "../../testing/postgres-client.ts";
import { PLAIN_CLAIM, seededRandom, type TaskInput, taskInput } from "../../testing/task-input.ts";

const KEYS = 50;
const CONNECTIONS = 16;

let postgres: StatementClient;
let clients: StatementClient[];

beforeAll(async () => {
  postgres = await createStatementDatabase();
  clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => connectStatements(postgres.url)));
});

beforeEach(async () => {
  await postgres.query("truncate cairnq_tasks cascade");
});

afterAll(() => Promise.all([postgres, ...clients].map((client) => client.end())));

async function submit(client: StatementClient, tasks: readonly TaskInput[]): Promise<Row[]> {
  const json = JSON.stringify(tasks);
  const values = { keys_json: json, tasks_json: json, now_ms: null };
  await client.query("begin");
  try {
    await client.run("lock_task_keys", values);
    await client.run("cancel_replaced_tasks", values);
    const rows = await client.run("submit_keyed_tasks", values);
    await client.query("commit");
    return rows;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

async function count(condition: string): Promise<number> {
  return Number((await postgres.query(`select count(*) from cairnq_tasks where ${condition}`))[0]!.count);
}

async function everything(): Promise<Row[]> {
  const rows = await postgres.query("select * from cairnq_tasks order by id");
  return [...rows, ...(await postgres.query("select * from cairnq_task_keys order by key"))];
}

test.each(["reuse", "reuse-succeeded", "reject", "replace"] as const)(
  "racing submits with the policy %s leave one live task a key, and a resend changes nothing",
  async (conflict) => {
    const sent: TaskInput[] = [];
    const rows: Row[] = [];
    await Promise.all(
      clients.map(async (client, index) => {
        for (let key = 0; key < KEYS; key++) {
          const task = taskInput(`task_${key}_${index}`, { key: `k${key}`, conflict });
          sent.push(task);
          rows.push(...(await submit(client, [task])));
        }
      }),
    );
    const created = conflict === "replace" ? KEYS * CONNECTIONS : KEYS;
    expect(rows).toHaveLength(KEYS * CONNECTIONS);
    expect(await count("true")).toBe(created);
    expect(await count("status = 'queued'")).toBe(KEYS);
    expect(await count("status = 'queued' and id in (select task_id from cairnq_task_keys)")).toBe(KEYS);

    const before = await everything();
    // Under 'replace' every task won once, so each of these was sent before.
    const resends = sent.filter((task, index) =>
      conflict !== "replace" ? before.some((row) => row.id === task.id) : index % 7 === 0,
    );
    for (const task of resends) await submit(postgres, [task]);
    expect(resends.length).toBeGreaterThan(40);
    expect(await everything()).toEqual(before);
  },
);

test("a resend does not take the key back from a newer task, but takes a key that lost its task", async () => {
  const first = taskInput("task_1", { key: "k", conflict: "replace" });
  await submit(postgres, [first]);
  await submit(postgres, [taskInput("task_2", { key: "k", conflict: "replace" })]);
  expect((await submit(postgres, [first]))[0]).toMatchObject({
    task_key: "k",
    id: "task_2",
    status: "queued",
  });

  await postgres.query("delete from cairnq_tasks where id = 'task_2'");
  expect((await submit(postgres, [first]))[0]).toMatchObject({
    task_key: "k",
    id: "task_1",
    status: "canceled",
  });
});

test("batches with overlapping keys in any order do not deadlock", async () => {
  const random = seededRandom(3);
  await Promise.all(
    clients.slice(0, 8).map(async (client, index) => {
      for (let batch = 0; batch < 25; batch++) {
        const keys = shuffle(
          Array.from({ length: 40 }, (_, key) => `k${key}`),
          random,
        ).slice(0, 20);
        await submit(
          client,
          keys.map((key) => taskInput(`task_${index}_${batch}_${key}`, { key, conflict: "replace" })),
        );
      }
    }),
  );
  expect(await count("status = 'queued'")).toBe(40);
});

test("a retry waits for a keyed submit of its key", async () => {
  await submit(postgres, [taskInput("task_1", { key: "k", conflict: "reuse" })]);
  const [submitter, retrier] = clients as [StatementClient, StatementClient];
  for (const target of [
    { id: "task_1", key: null },
    { id: null, key: "k" },
  ]) {
    await submitter.query("begin");
    await submitter.run("lock_task_keys", { keys_json: JSON.stringify([{ key: "k" }]) });
    await retrier.query("set lock_timeout = '50ms'");
    await expect(retrier.run("lock_task", target)).rejects.toMatchObject({ code: "55P03" });
    await submitter.query("commit");
    expect(await retrier.run("lock_task", target)).toEqual([{ locks: "1" }]);
    await retrier.query("set lock_timeout = 0");
  }
});

test("owners that settle and renew the same tasks in any order do not deadlock", async () => {
  const random = seededRandom(5);
  const tasks = Array.from({ length: 100 }, (_, index) => taskInput(`task_${index}`));
  await postgres.run("insert_tasks", { groups_json: groupsJson(tasks), now_ms: null });
  const lanes_json = JSON.stringify([{ queue: "default", name: null, quota: 100 }]);
  const claim = {
    lanes_json,
    worker_id: "w:1",
    lease_ms: 600_000,
    max_tasks: 100,
    ...PLAIN_CLAIM,
    now_ms: null,
  };
  expect(await postgres.run("claim_tasks", claim)).toHaveLength(100);
  const held = tasks.map(({ id }) => ({
    id,
    worker_id: "w:1",
    attempt: 1,
    outcome: "complete",
    result: null,
    delay_ms: null,
  }));
  let settled = 0;
  await Promise.all(
    clients.slice(0, 8).map(async (client) => {
      for (let beat = 0; beat < 25; beat++) {
        const leases_json = JSON.stringify(shuffle(held, random));
        await client.run("renew_leases", { leases_json, lease_ms: 600_000, now_ms: null });
        const settlements_json = JSON.stringify(shuffle(held, random).slice(0, 3));
        const rows = await client.run("settle_tasks", { settlements_json, now_ms: null });
        settled += rows.length;
      }
    }),
  );
  expect(settled).toBe(await count("status = 'succeeded'"));
  expect(settled).toBeGreaterThan(50);
});

function shuffle<T>(list: readonly T[], random: (below: number) => number): T[] {
  const shuffled = [...list];
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = random(last + 1);
    [shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!];
  }
  return shuffled;
}
