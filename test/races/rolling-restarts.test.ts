// Workers that are restarted one after the other under load.

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { DrainSummary } from "../../src/index.ts";
import { findFaults, query, readMoves, startAudit } from "../../testing/races/audit.ts";
import { openDatabase } from "../../testing/races/databases.ts";
import { TASK } from "../../testing/races/jobs.ts";
import { type RacerProcess, RacerProcesses } from "../../testing/races/racer-processes.ts";

const TASKS = 600;
const PROCESSES = 3;
const RESTARTS = 9;

test.each(["better-sqlite3-file", "pg"] as const)(
  "workers that are asked to stop one after the other under load spend no attempt and lose nothing, %s",
  { timeout: 120_000 },
  async (target) => {
    const database = await openDatabase(target);
    const processes = new RacerProcesses();
    try {
      const wadi = await database.connect();
      await startAudit(wadi);
      const start = async (member: RacerProcess) => {
        await member.open(database.address!);
        return { member, summary: member.serve() };
      };
      const serving = await Promise.all(Array.from({ length: PROCESSES }, () => start(processes.start())));
      const entries = Array.from({ length: TASKS }, (_, n) => ({ payload: 20 + (n % 7) * 10 }));
      const submitted = await wadi.submitMany(TASK, entries);

      const summaries: DrainSummary[] = [];
      for (let n = 0; n < RESTARTS; n++) {
        await sleep(100);
        const { member, summary } = serving.shift()!;
        member.terminate();
        summaries.push(await summary);
        await member.close();
        serving.push(await start(member));
      }
      const open = "select count(*) as n from cairnq_tasks where status in ('queued', 'running')";
      while (Number((await query(wadi, open))[0]!.n) > 0) await sleep(20);
      for (const { member, summary } of serving) {
        member.terminate();
        summaries.push(await summary);
      }

      const moves = await readMoves(wadi);
      const ids = submitted.map(({ id }) => id);
      expect(findFaults(moves, ids)).toEqual([]);
      // Only a release takes an attempt back: what was started was let finish.
      const counts = await query(wadi, "select attempt, count(*) as n from cairnq_tasks group by attempt");
      expect(counts.map(({ attempt, n }) => [Number(attempt), Number(n)])).toEqual([[1, TASKS]]);
      const sum = (field: "succeeded" | "released" | "retried" | "lost" | "recovered") =>
        summaries.reduce((total, summary) => total + summary[field], 0);
      expect({
        succeeded: sum("succeeded"),
        retried: sum("retried"),
        lost: sum("lost"),
        recovered: sum("recovered"),
      }).toEqual({
        ...{ succeeded: TASKS, retried: 0, lost: 0, recovered: 0 },
      });
      // Some held tasks that had not started when they were asked to stop, else little is proved.
      expect(sum("released")).toBeGreaterThan(0);
    } finally {
      await processes.end();
      await database.close();
    }
  },
);
