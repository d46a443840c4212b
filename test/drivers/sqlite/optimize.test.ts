// The statistics of SQLite's query planner are kept up to date.

import Database from "better-sqlite3";
import { describe, expect, it, test } from "vitest";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { pickTargets } from "../../../testing/targets.ts";

const STATISTICS = { sql: "select distinct tbl from sqlite_stat1 order by tbl", params: [] };

describe.each(pickTargets(["better-sqlite3-memory", "better-sqlite3-file", "libsql-file"]))(
  "on $name",
  (target) => {
    it("statistics appear, and follow a table that grew", async () => {
      const { executor, close } = await target.open();
      try {
        const wadi = new Wadi(executor);
        const worker = new Worker(wadi).task("job", () => 1);
        await wadi.submitMany("job", Array(20).fill({ payload: 1 }));
        await worker.drain({ maxTasks: 1 });
        await executor.optimize!();
        expect(await executor.run(STATISTICS)).toContainEqual({ tbl: "cairnq_tasks" });
        const rows = { sql: "select stat from sqlite_stat1 where idx = 'wadi_tasks_queued_idx'", params: [] };
        expect(String((await executor.run(rows))[0]!.stat)).toMatch(/^19 /);
        await wadi.submitMany("job", Array(2000).fill({ payload: 1 }));
        await worker.drain({ maxTasks: 1 });
        await executor.optimize!();
        expect(String((await executor.run(rows))[0]!.stat)).not.toMatch(/^19 /);
        expect(await wadi.submit("job", 1)).toMatchObject({ status: "queued" });
      } finally {
        await close();
      }
    });
  },
);

test("a better-sqlite3 handle keeps its analysis_limit", async () => {
  const db = new Database(":memory:");
  db.pragma("analysis_limit = 7");
  const executor = betterSqlite3(db);
  await new Wadi(executor).migrate();
  await executor.optimize!();
  expect(db.pragma("analysis_limit", { simple: true })).toBe(7);
});

test.each(pickTargets(["libsql-http", "d1", "pg"]))("$name leaves it to the server", async (target) => {
  const { executor, close } = await target.open();
  expect(executor.optimize).toBeUndefined();
  await close();
});
