// Claims of the Postgres dialect, alone and at once.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { groupsJson } from "../../testing/groups-json.ts";
import {
  connectStatements,
  createStatementDatabase,
  type StatementClient,
} from "../../testing/postgres-client.ts";
import { PLAIN_CLAIM, seededRandom, type TaskInput, taskInput } from "../../testing/task-input.ts";

interface Lane {
  readonly queue: string;
  readonly name: string | null;
  readonly quota: number;
}

const QUEUES = ["default", "mail"];
const NAMES = ["resize", "send", "sum"];
const NOW_MS = 1_000;

let postgres: StatementClient;

beforeAll(async () => {
  postgres = await createStatementDatabase();
});

beforeEach(async () => {
  await postgres.query("truncate cairnq_tasks cascade");
});

afterAll(() => postgres.end());

async function insert(tasks: readonly TaskInput[]): Promise<void> {
  await postgres.run("insert_tasks", { groups_json: groupsJson(tasks), now_ms: 0 });
}

async function claim(client: StatementClient, lanes: readonly Lane[], max_tasks: number): Promise<string[]> {
  const values = {
    lanes_json: JSON.stringify(lanes),
    worker_id: "w:1",
    lease_ms: 1_000,
    max_tasks,
    ...PLAIN_CLAIM,
    now_ms: NOW_MS,
  };
  return (await client.run("claim_tasks", values)).map((row) => String(row.id));
}

/** The claim's contract, by sorting everything. */
function model(tasks: readonly TaskInput[], lanes: readonly Lane[], maxTasks: number): string[] {
  const left = new Map<string, number>();
  return tasks
    .filter((task) => task.run_at_ms! <= NOW_MS)
    .sort((a, b) => b.priority - a.priority || a.run_at_ms! - b.run_at_ms! || (a.id < b.id ? -1 : 1))
    .filter((task) => {
      const lane = lanes.find(({ queue, name }) => queue === task.queue && (name ?? task.name) === task.name);
      const key = `${task.queue}/${task.name}`;
      const quota = left.get(key) ?? lane?.quota ?? 0;
      left.set(key, quota - 1);
      return quota > 0;
    })
    .slice(0, maxTasks)
    .map((task) => task.id)
    .sort();
}

test("200 random claims take the same tasks as a sort of the whole table", async () => {
  const random = seededRandom(11);
  const one = <T>(list: readonly T[]): T => list[random(list.length)]!;
  let taken = 0;
  for (let round = 0; round < 200; round++) {
    const levels = 1 + random(6);
    const tasks = Array.from({ length: random(60) }, (_, index) =>
      taskInput(`task_${(index * 37) % 61}`, {
        ...{
          queue: one(QUEUES),
          name: one(NAMES),
          priority: random(levels) - 2,
          run_at_ms: NOW_MS + random(40) - 30,
        },
      }),
    );
    const lanes = QUEUES.flatMap((queue): Lane[] => {
      if (random(3) === 0) return [{ queue, name: null, quota: random(8) }];
      return NAMES.filter(() => random(3) > 0).map((name) => ({ queue, name, quota: random(8) }));
    });
    const maxTasks = 1 + random(25);
    await postgres.query("delete from cairnq_tasks");
    await insert(tasks);
    const expected = model(tasks, lanes, maxTasks);
    taken += expected.length;
    expect((await claim(postgres, lanes, maxTasks)).sort(), JSON.stringify({ lanes, maxTasks })).toEqual(
      expected,
    );
  }
  expect(taken).toBeGreaterThan(1_000);
});

test("a claim leaves tasks with a concurrency key alone", async () => {
  await insert([taskInput("plain"), taskInput("limited", { priority: 9 })]);
  await postgres.query("update cairnq_tasks set concurrency_key = 'tenant' where id = 'limited'");
  const lanes = [{ queue: "default", name: null, quota: 5 }];
  expect(await claim(postgres, lanes, 5)).toEqual(["plain"]);
});

test("a claim takes all of its tasks from those that another one has not locked", async () => {
  await insert(Array.from({ length: 20 }, (_, index) => taskInput(`task_${10 + index}`)));
  const other = await connectStatements(postgres.url);
  const lanes = [{ queue: "default", name: "resize", quota: 10 }];
  await other.query("begin");
  const theirs = await claim(other, lanes, 10);
  const ours = await claim(postgres, lanes, 10);
  await other.query("commit");
  await other.end();
  expect(theirs).toHaveLength(10);
  expect(new Set([...theirs, ...ours]).size).toBe(20);
});

test("racing claims take every task once and never come back empty while tasks are left", async () => {
  const total = 2_000;
  await insert(
    Array.from({ length: total }, (_, index) =>
      taskInput(`task_${index}`, { name: NAMES[index % 3]!, priority: index % 2 }),
    ),
  );
  const clients = await Promise.all(Array.from({ length: 8 }, () => connectStatements(postgres.url)));
  const lanes = NAMES.map((name) => ({ queue: "default", name, quota: 4 }));
  const claimed: string[] = [];
  let emptyTooEarly = 0;
  await Promise.all(
    clients.map(async (client) => {
      for (let misses = 0; misses < 3; ) {
        const ids = await claim(client, lanes, 7);
        claimed.push(...ids);
        if (ids.length > 0) continue;
        misses++;
        if (claimed.length < total - 8 * 7) emptyTooEarly++;
      }
    }),
  );
  await Promise.all(clients.map((client) => client.end()));
  expect(claimed).toHaveLength(total);
  expect(new Set(claimed).size).toBe(total);
  expect(emptyTooEarly).toBe(0);
});
