// Submits that meet the end of a drain: each task starts, although nothing but kicks starts a drain.

import { afterAll, describe, expect, test } from "vitest";
import type { Executor } from "../../src/core/executor.ts";
import { type Kick, Wadi, Worker } from "../../src/index.ts";
import { openDatabase, type RaceTarget } from "../../testing/races/databases.ts";
import { TASK } from "../../testing/races/jobs.ts";
import { RacerProcesses } from "../../testing/races/racer-processes.ts";

const TARGETS: RaceTarget[] = ["better-sqlite3-file", "libsql-http", "d1", "pg", "neon-http"];

const processes = new RacerProcesses();
afterAll(() => processes.end());

describe.each(TARGETS)("on %s", (target) => {
  test("processes that submit and drain at once leave no task without a drain", async () => {
    const database = await openDatabase(target);
    try {
      const wadi = await database.connect();
      await wadi.migrate();
      const racers = await database.racers(3, processes);
      const args = { tasks: 40, maxPauseMs: 100, startAtMs: Date.now() + 100 };
      const raced = await Promise.all(racers.map((racer) => racer.run("submitAndWake", args)));
      await Promise.all(racers.map((racer) => racer.close()));
      expect((await wadi.stats()).default).toEqual({
        ...{ queued: 0, running: 0, succeeded: 120, failed: 0, canceled: 0 },
      });
      expect(raced.reduce((sum, { kicks }) => sum + kicks, 0)).toBeGreaterThan(1);
    } finally {
      await database.close();
    }
  });

  test("a submit before or after any round trip of a drain starts its task", async () => {
    const database = await openDatabase(target);
    try {
      const producer = await database.connect();
      await producer.migrate();
      // 1 and 2 are what the drain begins with: two claims, the second of which meets the end.
      let points = 0;
      for (let point = 0; point <= points; point++) {
        const queue = `q${point}`;
        const kicks: Kick[] = [];
        const wake = (kick: Kick): void => void kicks.push(kick);
        const submitter = new Wadi(producer.executor, { wake });
        let at = 0;
        const executor = atEachPoint(producer.executor, async () => {
          if (at++ === point) await submitter.submit(TASK, "late", { queue });
          points = Math.max(points, at - 1);
        });
        const draining = new Wadi(executor, { wake });
        const worker = () => new Worker(draining, { queue, concurrency: 1 }).task(TASK, () => null);
        await producer.submitMany(TASK, [
          { payload: 1, queue },
          { payload: 2, queue },
        ]);
        await worker().drain();
        while (kicks.shift() !== undefined) await worker().drain();
        expect((await producer.stats([queue]))[queue], `point ${point}`).toMatchObject({ queued: 0 });
      }
      expect(points).toBeGreaterThan(4);
    } finally {
      await database.close();
    }
  });
});

/** Calls `meet` before each request, and after its commit but before its answer. */
function atEachPoint(inner: Executor, meet: () => Promise<void>): Executor {
  const around = async <T>(send: () => Promise<T>): Promise<T> => {
    await meet();
    const answer = await send();
    await meet();
    return answer;
  };
  return {
    ...inner,
    run: (statement, options) => around(() => inner.run(statement, options)),
    batch: (statements, options) => around(() => inner.batch(statements, options)),
  };
}
