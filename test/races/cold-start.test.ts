// Processes that open an empty database at once.

import { afterAll, expect, test } from "vitest";
import { query } from "../../testing/races/audit.ts";
import { openDatabase } from "../../testing/races/databases.ts";
import { RacerProcesses } from "../../testing/races/racer-processes.ts";

const PROCESSES = 8;
const TASKS_EACH = 5;
const DATABASES = 4;

const processes = new RacerProcesses();
afterAll(() => processes.end());

test.each(["better-sqlite3-file", "libsql-file", "pg"] as const)(
  "8 processes that open an empty database at once and submit create its tables once, %s",
  { timeout: 60_000 },
  async (target) => {
    for (let n = 0; n < DATABASES; n++) {
      const database = await openDatabase(target);
      try {
        const racers = await database.racers(PROCESSES, processes);
        const ids = await Promise.all(racers.map((racer) => racer.run("submit", { tasks: TASKS_EACH })));
        await Promise.all(racers.map((racer) => racer.close()));

        const wadi = await database.connect();
        const stored = await query(wadi, "select id from cairnq_tasks order by id");
        expect(stored.map(({ id }) => id)).toEqual(ids.flat().sort());
        expect(stored).toHaveLength(PROCESSES * TASKS_EACH);
        const applied = await query(wadi, "select name from wadi_migrations");
        expect(applied).toHaveLength(new Set(applied.map(({ name }) => name)).size);
      } finally {
        await database.close();
      }
    }
  },
);
