// Settlements with rows of the application, while leases are lost.

import { afterAll, expect, test } from "vitest";
import type { Wadi } from "../../src/index.ts";
import { startHranaServer } from "../../testing/hrana-server.ts";
import { startNeonEndpoint } from "../../testing/neon-endpoint.ts";
import { fraction } from "../../testing/neon-faults.ts";
import { createDatabase } from "../../testing/postgres.ts";
import { query } from "../../testing/races/audit.ts";
import {
  addressed,
  openDatabase,
  RACE_TARGETS,
  type RaceDatabase,
  type RaceTarget,
} from "../../testing/races/databases.ts";
import { RacerProcesses } from "../../testing/races/racer-processes.ts";
import type { OwnRowsRaced } from "../../testing/races/transactional-job.ts";

const RACERS = 4;
const LOSSES = 1000;
const SHARE = 0.05;
const SEED = Number(process.env.WADI_RACE_SEED ?? Math.floor(Math.random() * 1e6));

const processes = new RacerProcesses();
afterAll(() => processes.end());

interface LossyDatabase {
  readonly database: RaceDatabase;
  /** Share of the answers that the clients lose by themselves, because no server of ours does it. */
  readonly lostAnswers: number;
  /** Has the server lose this share of the answers from now on. */
  lose?(share: number): void;
}

async function open(target: RaceTarget): Promise<LossyDatabase> {
  if (target === "neon-http") {
    const endpoint = await startNeonEndpoint({ postgresUrl: await createDatabase() });
    const lose = (share: number) => {
      endpoint.faults.plan = fraction(share, SEED, { when: "after", answer: "drop" });
    };
    const address = { target, url: endpoint.connectionString };
    return { database: addressed(address, endpoint.stop), lostAnswers: 0, lose };
  }
  if (target === "libsql-http") {
    const server = await startHranaServer({ seed: SEED });
    const lose = (share: number) => {
      server.faults.dropAfter = share;
    };
    return { database: addressed({ target, url: server.url }, server.stop), lostAnswers: 0, lose };
  }
  return { database: await openDatabase(target), lostAnswers: SHARE };
}

async function race(target: RaceTarget, losses: number, isFenced: boolean) {
  const { database, lostAnswers, lose } = await open(target);
  try {
    const wadi = await database.connect();
    await wadi.migrate();
    await query(wadi, "create table ledger (task text, token text, part integer)");
    const endless = { maxAttempts: 1_000_000, maxCrashes: 1_000_000 };
    const entries = Array.from({ length: losses * 4 }, (_, payload) => ({ payload, ...endless }));
    await wadi.submitMany("work", entries);

    const racers = await database.racers(RACERS, processes);
    const leaseMs = target === "better-sqlite3-file" || target === "pg" ? 40 : 80;
    const args = { losses: losses / RACERS, leaseMs, lostAnswers, isFenced, startAtMs: Date.now() + 100 };
    lose?.(SHARE);
    const raced = await Promise.all(
      racers.map((racer, n) => racer.run("commitOwnRows", { ...args, seed: SEED + n })),
    );
    lose?.(0);
    await Promise.all(racers.map((racer) => racer.close()));
    return { raced, faults: await findFaults(wadi, raced) };
  } finally {
    await database.close();
  }
}

/** Differences between the application's rows, the settlements and the answers that the racers got. */
async function findFaults(wadi: Wadi, raced: readonly OwnRowsRaced[]): Promise<string[]> {
  const rows = await query(wadi, "select task, token, part from ledger order by task, part");
  const rowsOf = Map.groupBy(rows, ({ task }) => String(task));
  const answered = Map.groupBy(
    raced.flatMap(({ done }) => done),
    ({ id }) => id,
  );
  const tasks = await query(wadi, "select id, status, worker_id, result from cairnq_tasks");
  return tasks.flatMap(({ id, status, worker_id, result }) => {
    const hasSucceeded = status === "succeeded";
    const token = hasSucceeded ? String(worker_id) : "";
    const written = (rowsOf.get(String(id)) ?? []).map((row) => `${row.part} ${row.token}`);
    const reported = (answered.get(String(id)) ?? []).map((done) => done.token);
    const expected = {
      written: hasSucceeded ? [`1 ${token}`, `2 ${token}`] : [],
      reported: hasSucceeded ? [token] : [],
      result: hasSucceeded ? JSON.stringify(token) : null,
    };
    const found = { written, reported, result };
    const isRight = JSON.stringify(found) === JSON.stringify(expected);
    return isRight ? [] : [`${id} is ${status}: ${JSON.stringify({ found, expected })}`];
  });
}

test.each(RACE_TARGETS)(
  `own rows and settlements agree under 1,000 lost leases, %s, seed ${SEED}`,
  { timeout: 120_000 },
  async (target) => {
    const { raced, faults } = await race(target, LOSSES, true);
    const lost = raced.reduce((sum, racer) => sum + racer.lost, 0);
    const done = raced.reduce((sum, racer) => sum + racer.done.length, 0);
    expect(faults).toEqual([]);
    expect(lost).toBeGreaterThanOrEqual(LOSSES);
    // Refused and done in earnest, or nothing was proved.
    expect(done).toBeGreaterThan(LOSSES / 10);
  },
);

test.each<RaceTarget>(["better-sqlite3-file", "pg"])(
  "without the fence they do not, and it shows, %s",
  { timeout: 60_000 },
  async (target) => {
    expect((await race(target, 40, false)).faults).not.toEqual([]);
  },
);
