// A small part of `npm run simulate -- schedules` on each kind of database, over the end of summer in three zones.

import { expect, test } from "vitest";
import { runSchedules } from "../../scripts/simulate/schedules/run.ts";
import { pickTargets } from "../../testing/targets.ts";

/** 2026: Beirut, Berlin and London set their clocks in the night to the 25th of October. */
const DAYS = { seed: 3, days: 0.4, startMs: Date.parse("2026-10-24T20:00:00Z") };
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
      expect(result.figures.occurrences).toBeGreaterThan(50);
      figures.push(result.figures);
      expect(result.figures).toEqual(figures[0]);
    } finally {
      await target.close();
    }
  },
);
