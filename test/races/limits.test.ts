// Claimers that race for limited tasks.

import { afterAll, expect, test } from "vitest";
import { query } from "../../testing/races/audit.ts";
import {
  openDatabase,
  RACE_TARGETS,
  type RaceDatabase,
  type RaceTarget,
} from "../../testing/races/databases.ts";
import { type Racer, runJob } from "../../testing/races/jobs.ts";
import { countRunning } from "../../testing/races/limited-jobs.ts";
import { RacerProcesses } from "../../testing/races/racer-processes.ts";

const CLAIMERS = 50;

const processes = new RacerProcesses();
afterAll(() => processes.end());

/** A file is raced for by processes; elsewhere connections of one process meet at the server. */
async function openRacers(target: RaceTarget, database: RaceDatabase): Promise<Racer[]> {
  if (target === "better-sqlite3-file" || target === "libsql-file") return database.racers(10, processes);
  if (target === "d1") return database.racers(CLAIMERS, processes);
  return Promise.all(
    Array.from({ length: CLAIMERS }, async (): Promise<Racer> => {
      const wadi = await database.connect();
      return { run: (job, args) => runJob(wadi, job, args) as never, close: async () => {} };
    }),
  );
}

const LANES = [
  { queue: "default", name: "a" },
  { queue: "default", name: "b" },
  { queue: "mail", name: "a" },
];

test.each(RACE_TARGETS)(
  "50 racing claimers never exceed a limit of 5, %s",
  { timeout: 120_000 },
  async (target) => {
    const database = await openDatabase(target);
    try {
      const wadi = await database.connect();
      await countRunning(wadi, ["five", "one"]);
      const ids: string[] = [];
      for (const { queue, name } of LANES) {
        const entries = Array.from({ length: 60 }, (_, n) => ({
          ...{ payload: n, queue, priority: n % 3 },
          limits: n % 6 === 0 ? { key: "one", concurrency: 1 } : { key: "five", concurrency: 5 },
        }));
        ids.push(...(await wadi.submitMany(name, entries)).map(({ id }) => id));
      }
      const racers = await openRacers(target, database);
      const args = {
        claimers: CLAIMERS / racers.length,
        lanes: LANES,
        limit: 3,
        startAtMs: Date.now() + 100,
        keptUntil: { key: "five", peak: 5 },
      };
      const runs = await Promise.all(
        racers.map((racer, n) => racer.run("runLimited", { ...args, racer: `r${n}` })),
      );
      await Promise.all(racers.map((racer) => racer.close()));
      expect(runs.flat().sort()).toEqual(ids.sort());
      const counters = await query(wadi, "select key, running, peak from counters order by key");
      // The limit was reached, else nothing raced.
      expect(counters.map(({ key, running, peak }) => `${key}: ${running}, ${peak} at most`)).toEqual([
        "five: 0, 5 at most",
        "one: 0, 1 at most",
      ]);
    } finally {
      await database.close();
    }
  },
);

test.each<RaceTarget>(["pg", "better-sqlite3-file", "d1"])(
  "racing claimers start at most 10 in any half second, %s",
  { timeout: 60_000 },
  async (target) => {
    const database = await openDatabase(target);
    const rate = { count: 10, perMs: 500 };
    try {
      const wadi = await database.connect();
      await countRunning(wadi, ["api"]);
      const entries = Array.from({ length: 60 }, (_, payload) => ({ payload, limits: { key: "api", rate } }));
      await wadi.submitMany("a", entries);
      const racers = (await openRacers(target, database)).slice(0, 10);
      const args = { claimers: 2, lanes: LANES, limit: 3, startAtMs: Date.now() + 100 };
      await Promise.all(racers.map((racer, n) => racer.run("runLimited", { ...args, racer: `r${n}` })));
      const starts = (await query(wadi, "select at_ms from starts order by at_ms")).map(({ at_ms }) =>
        Number(at_ms),
      );
      expect(starts).toHaveLength(entries.length);
      expect(starts.filter((at, i) => at - starts[i - rate.count]! < rate.perMs)).toEqual([]);
    } finally {
      await database.close();
    }
  },
);
