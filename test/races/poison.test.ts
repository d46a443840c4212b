// A task that kills the processes of its workers.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { SubmitEntry, Wadi, WorkerOptions } from "../../src/index.ts";
import { query } from "../../testing/races/audit.ts";
import type { Address } from "../../testing/races/connect.ts";
import { openDatabase } from "../../testing/races/databases.ts";

type Target = "better-sqlite3-file" | "pg";

interface Case {
  readonly target: Target;
  readonly good: number;
  readonly workMs: number;
  readonly maxAttempts: number;
  /** How many tasks stand before the poison. */
  readonly before: number;
  readonly worker: WorkerOptions;
}

const LEASE_MS = 1500;
const SCRIPT = "testing/races/poison-worker.ts";

/** Starts a worker process again whenever its tasks have killed it, until nothing is left to do. */
async function workOff(wadi: Wadi, address: Address, options: WorkerOptions): Promise<number> {
  let deaths = 0;
  const left = async () =>
    Number(
      (await query(wadi, "select count(*) as n from cairnq_tasks where status in ('queued', 'running')"))[0]!
        .n,
    );
  while ((await left()) > 0) {
    const args = [SCRIPT, JSON.stringify(address), JSON.stringify({ ...options, leaseMs: LEASE_MS })];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
    const exit = once(child, "exit");
    let isDead = false;
    void exit.then(() => {
      isDead = true;
    });
    while (!isDead && (await left()) > 0) await sleep(50);
    if (isDead) deaths++;
    else child.kill("SIGKILL");
    await exit;
  }
  return deaths;
}

async function run({ target, good, workMs, maxAttempts, before, worker }: Case) {
  const database = await openDatabase(target);
  try {
    const wadi = await database.connect();
    const entry = (payload: unknown): SubmitEntry => ({ payload, maxAttempts });
    const entries = Array.from({ length: good }, () => entry(workMs));
    entries.splice(before, 0, entry("poison"));
    await wadi.submitMany("job", entries);
    const deaths = await workOff(wadi, database.address!, worker);
    const tasks = await wadi.list({ limit: 1000 });
    const poison = tasks.find(({ payload }) => payload === "poison")!;
    const others = tasks.filter(({ payload }) => payload !== "poison");
    return { deaths, poison, others };
  } finally {
    await database.close();
  }
}

const name = ({ target, good, worker, maxAttempts }: Case) =>
  `${good} good on ${target}, ${JSON.stringify(worker)}, maxAttempts ${maxAttempts}`;

const THREE: readonly Case[] = [
  {
    target: "better-sqlite3-file",
    good: 9,
    workMs: 250,
    maxAttempts: 3,
    before: 3,
    worker: { concurrency: 10 },
  },
  {
    ...{ target: "better-sqlite3-file", good: 60, workMs: 50, maxAttempts: 3, before: 0 },
    worker: { concurrency: 10, prefetch: 100 },
  },
  {
    target: "pg",
    good: 60,
    workMs: 50,
    maxAttempts: 3,
    before: 30,
    worker: { concurrency: 10, prefetch: 100 },
  },
  {
    target: "pg",
    good: 100,
    workMs: 20,
    maxAttempts: 5,
    before: 50,
    worker: { concurrency: 4, prefetch: 7 },
  },
  {
    target: "better-sqlite3-file",
    good: 20,
    workMs: 20,
    maxAttempts: 3,
    before: 5,
    worker: { concurrency: 1 },
  },
];

test.each(THREE.map((given) => [name(given), given] as const))(
  "one task that kills its process takes none of %s with it",
  { timeout: 120_000 },
  async (_, given) => {
    const { deaths, poison, others } = await run(given);
    expect(others.filter(({ status }) => status !== "succeeded")).toEqual([]);
    expect(poison).toMatchObject({
      status: "failed",
      error: { code: expect.stringMatching(/lease_expired|max_crashes/) },
    });
    expect(deaths).toBe(3);
    // Charged for two of them at most.
    expect(Math.max(...others.map(({ crashes }) => crashes))).toBeLessThanOrEqual(2);
  },
);

test.each(["better-sqlite3-file", "pg"] as const)(
  "with one attempt only those fail that may have started, on %s",
  { timeout: 120_000 },
  async (target) => {
    const worker = { concurrency: 5, prefetch: 100 };
    const { deaths, others } = await run({
      target,
      good: 60,
      workMs: 100,
      maxAttempts: 1,
      before: 0,
      worker,
    });
    expect(deaths).toBe(1);
    const failed = others.filter(({ status }) => status !== "succeeded");
    // Those in the slots, and as many as may start before the next round trip.
    expect(failed.length).toBeLessThanOrEqual(5 + 8);
    expect(failed.every(({ attempt }) => attempt === 1)).toBe(true);
  },
);
