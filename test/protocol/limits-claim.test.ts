// Random claims with limits, compared with a plain model.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Lane } from "../../src/core/operations/claim-pools.ts";
import { groupsJson } from "../../testing/groups-json.ts";
import { type DialectClient, openDialect } from "../../testing/statement-clients.ts";
import { PLAIN_CLAIM, seededRandom, taskInput } from "../../testing/task-input.ts";

const NOW_MS = 100_000;
const PER_MS = 1_000;
const QUEUES = ["default", "mail"];
const NAMES = ["resize", "send", "sum"];
const KEYS = ["", "a", "b", "c", "d'\"%"];

interface CaseTask {
  readonly id: string;
  readonly queue: string;
  readonly name: string;
  readonly priority: number;
  readonly run_at_ms: number;
  readonly concurrency_key: string;
}

interface CaseLimit {
  readonly key: string;
  readonly concurrency: number | null;
  readonly rate_count: number | null;
  /** Tasks of the key that are running already, and starts within the window. */
  readonly running: number;
  readonly started: number;
}

interface Case {
  readonly tasks: readonly CaseTask[];
  readonly limits: readonly CaseLimit[];
  readonly lanes: readonly Lane[];
  readonly maxTasks: number;
}

type Random = ReturnType<typeof seededRandom>;

function randomCase(random: Random): Case {
  const one = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const levels = 1 + random(4);
  const keys = KEYS.slice(0, 1 + random(KEYS.length));
  const ranked = random(2) === 0;
  const rank = () => (ranked ? { rank: random(6) } : {});
  const maxTasks = 1 + random(20);
  // Now and then a lane has less than the whole.
  const quota = () => (random(4) > 0 ? maxTasks : random(maxTasks + 1));
  return {
    tasks: Array.from({ length: random(60) }, (_, index) => ({
      id: `task_${(index * 37) % 61}`,
      queue: one(QUEUES),
      name: one(NAMES),
      priority: random(levels) - 2,
      run_at_ms: NOW_MS + random(40) - 30,
      concurrency_key: one(keys),
    })),
    limits: KEYS.slice(1).flatMap((key): CaseLimit[] => {
      if (random(8) === 0) return [];
      const concurrency = random(3) > 0 ? 1 + random(6) : null;
      const rate_count = concurrency === null || random(2) === 0 ? 1 + random(6) : null;
      return [{ key, concurrency, rate_count, running: random(4), started: random(5) }];
    }),
    lanes: QUEUES.flatMap((queue): Lane[] => {
      if (random(3) === 0) return [{ queue, name: null, quota: quota(), ...rank() }];
      return NAMES.filter(() => random(3) > 0).map((name) => ({ queue, name, quota: quota(), ...rank() }));
    }),
    maxTasks,
  };
}

/** What a key has room for. Limits that a purge forgot are a concurrency of one. */
function roomOf({ limits }: Case, key: string): number {
  if (key === "") return Number.POSITIVE_INFINITY;
  const limit = limits.find((candidate) => candidate.key === key);
  if (limit === undefined) return 1;
  const { concurrency, rate_count, running, started } = limit;
  return Math.min(
    concurrency === null ? Number.POSITIVE_INFINITY : concurrency - running,
    rate_count === null ? Number.POSITIVE_INFINITY : rate_count - started,
  );
}

/** The contract by brute force. Each lane and key has its tasks in order, and each task of them its turn. */
function model(given: Case): string[] {
  const { tasks, lanes, maxTasks } = given;
  const laneOf = (task: CaseTask) =>
    lanes.find(({ queue, name }) => queue === task.queue && (name ?? task.name) === task.name);
  const inOrder = (a: CaseTask, b: CaseTask) =>
    b.priority - a.priority || a.run_at_ms - b.run_at_ms || (a.id < b.id ? -1 : 1);
  const entries = Map.groupBy(
    tasks.filter((task) => task.run_at_ms <= NOW_MS && laneOf(task) !== undefined),
    (task) => `${task.queue}/${task.name}/${task.concurrency_key}`,
  );
  const candidates = [...entries.values()].flatMap((entry) => {
    const { quota, rank } = laneOf(entry[0]!)!;
    const most = Math.min(quota, roomOf(given, entry[0]!.concurrency_key));
    const turn = (index: number) => (rank === undefined ? 0 : rank + index);
    return entry.sort(inOrder).map((task, index) => ({ task, turn: turn(index), fits: index < most }));
  });
  const sorted = candidates
    .filter(({ fits }) => fits)
    .sort((a, b) => b.task.priority - a.task.priority || a.turn - b.turn || inOrder(a.task, b.task))
    .map(({ task }) => task);
  const left = new Map<string, number>();
  const spend = (what: string, of: number) => {
    left.set(what, (left.get(what) ?? of) - 1);
    return left.get(what)! >= 0;
  };
  return sorted
    .filter((task) => spend(`key ${task.concurrency_key}`, roomOf(given, task.concurrency_key)))
    .filter((task) => spend(`lane ${task.queue}/${task.name}`, laneOf(task)!.quota))
    .slice(0, maxTasks)
    .map(({ id }) => id)
    .sort();
}

describe.each(["sqlite", "postgres"] as const)("%s", (dialect) => {
  let client: DialectClient;
  beforeAll(async () => {
    client = await openDialect(dialect);
  });
  afterAll(() => client.end());

  async function prepare({ tasks, limits }: Case): Promise<void> {
    await client.query("delete from wadi_limits");
    await client.query("delete from cairnq_tasks");
    const running = limits.flatMap(({ key, running }) =>
      Array.from({ length: running }, (_, n) => taskInput(`run_${key}_${n}`, { concurrency_key: key })),
    );
    await client.run("insert_tasks", { groups_json: groupsJson(running), now_ms: 0 });
    await client.query(
      "update cairnq_tasks set status = 'running', worker_id = 'w:0', lease_until_ms = 999999999",
    );
    await client.run("insert_tasks", {
      groups_json: groupsJson(tasks.map(({ id, ...task }) => taskInput(id, task))),
      now_ms: 0,
    });
    const rows = limits.map((limit) => ({
      ...limit,
      rate_per_ms: limit.rate_count === null ? null : PER_MS,
    }));
    await client.run("upsert_limits", { limits_json: JSON.stringify(rows), now_ms: 0 });
    // One at the window's very end does not count any more.
    const starts = limits.flatMap(({ key, started }) => {
      const row = (at: number, tasks: number) => `('${key.replaceAll("'", "''")}', ${at}, 'w:0', ${tasks})`;
      const counted = [row(NOW_MS - PER_MS + 1, 1), row(NOW_MS, started - 1)].slice(0, started);
      return [row(NOW_MS - PER_MS, 9), ...counted];
    });
    if (starts.length > 0) await client.query(`insert into wadi_limit_starts values ${starts.join()}`);
  }

  async function claim(
    { lanes, maxTasks }: Case,
    name: "claim_tasks" | "claim_limited_tasks",
  ): Promise<string[]> {
    const values = {
      lanes_json: JSON.stringify(lanes),
      worker_id: "w:1",
      lease_ms: 1000,
      max_tasks: maxTasks,
      ...PLAIN_CLAIM,
    };
    return (await client.run(name, { ...values, now_ms: NOW_MS })).map(({ id }) => String(id)).sort();
  }

  test("300 random claims take the same tasks as a sort of all tasks", async () => {
    const random = seededRandom(23);
    let taken = 0;
    for (let round = 0; round < 300; round++) {
      const given = randomCase(random);
      await prepare(given);
      const expected = model(given);
      taken += expected.length;
      expect(await claim(given, "claim_limited_tasks"), JSON.stringify({ round, given })).toEqual(expected);
    }
    expect(taken).toBeGreaterThan(1200);
  });

  test("100 random claims without limits take the same in both forms", async () => {
    const random = seededRandom(5);
    for (let round = 0; round < 100; round++) {
      const given = randomCase(random);
      const plain = { ...given, tasks: given.tasks.map((task) => ({ ...task, concurrency_key: "" })) };
      const expected = model(plain);
      for (const name of ["claim_tasks", "claim_limited_tasks"] as const) {
        await prepare(plain);
        expect(await claim(plain, name), JSON.stringify({ round, name, plain })).toEqual(expected);
      }
    }
  });
});
