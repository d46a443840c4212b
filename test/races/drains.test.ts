// Workers in several processes that drain one database.

import { afterAll, expect, test } from "vitest";
import { findFaults, readMoves, startAudit } from "../../testing/races/audit.ts";
import { openDatabase, type RaceTarget } from "../../testing/races/databases.ts";
import { TASK } from "../../testing/races/jobs.ts";
import { RacerProcesses } from "../../testing/races/racer-processes.ts";

const WORKERS = 8;

const processes = new RacerProcesses();
afterAll(() => processes.end());

test.each<[RaceTarget, number]>([
  ["better-sqlite3-file", 10_000],
  ["pg", 10_000],
  ["libsql-file", 1000],
  ["libsql-http", 1000],
  ["neon-http", 1000],
  ["d1", 1000],
])(
  "8 workers that drain one database run each task exactly once, %s, %i tasks",
  { timeout: 120_000 },
  async (target, tasks) => {
    const database = await openDatabase(target);
    try {
      const wadi = await database.connect();
      await startAudit(wadi);
      const entries = Array.from({ length: tasks }, (_, payload) => ({ payload }));
      const ids = (await wadi.submitMany(TASK, entries)).map(({ id }) => id).sort();

      const racers = await database.racers(WORKERS, processes);
      const args = { concurrency: 10, startAtMs: Date.now() + 100 };
      // Every other one claims ahead.
      const drained = await Promise.all(
        racers.map((racer, i) => racer.run("drain", { ...args, prefetch: (i % 2) * 15 })),
      );
      await Promise.all(racers.map((racer) => racer.close()));

      const runs = drained.flatMap((worker) => worker.runs);
      expect(runs).toHaveLength(tasks);
      expect(runs.sort()).toEqual(ids);
      const moves = await readMoves(wadi);
      expect(findFaults(moves, ids)).toEqual([]);
      // Claimed and settled, once each.
      expect(moves).toHaveLength(2 * tasks);
      const shares = drained.map((worker) => worker.runs.length);
      expect(Math.max(...shares), `shares: ${shares}`).toBeLessThan(tasks);
      const summaries = drained.flatMap((worker) => worker.summaries);
      expect(summaries.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(tasks);
      expect(summaries.reduce((sum, { lost, recovered }) => sum + lost + recovered, 0)).toBe(0);
    } finally {
      await database.close();
    }
  },
);
