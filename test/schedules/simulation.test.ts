// A small part of `npm run simulate -- schedules` on each kind of database, over the end of summer in four zones.

import { expect, test } from "vitest";
import { runSchedules } from "../../scripts/simulate/schedules/run.ts";
import { pickTargets } from "../../testing/targets.ts";

/** 2026: Berlin, London and Beirut on the 25th of October, New York and St. John's on the 1st of November. */
const DAYS = { seed: 3, days: 1.25, startMs: Date.parse("2026-10-24T18:00:00Z") };
const figures: unknown[] = [];

test.each(pickTargets(["better-sqlite3-file", "libsql-http", "d1", "pg", "neon-http"]))(
  "$name",
  { timeout: 60_000 },
  async ({ open }) => {
    const target = await open();
    try {
      const connections = [target.executor, await target.connect()] as const;
      const result = await runSchedules({ ...DAYS, connections, log: () => {} });
      expect(result.violations).toEqual([]);
      expect(result.figures).toMatchObject({ missed: 0, twice: 0 });
      expect(result.figures.occurrences).toBeGreaterThan(100);
      figures.push(result.figures);
      expect(result.figures).toEqual(figures[0]);
    } finally {
      await target.close();
    }
  },
);
