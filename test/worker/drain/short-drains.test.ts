// Drains that are too short for the work: nothing is started and thrown away, whatever the tasks use.

import { expect, test } from "vitest";
import { type TaskContext, Wadi, Worker } from "../../../src/index.ts";
import { pickTargets } from "../../../testing/targets.ts";

const WORK_MS = 100;

test.each(pickTargets(["better-sqlite3-file", "libsql-http"]))(
  "leave each task with all its attempts until it fits, on $name",
  { timeout: 60_000 },
  async ({ open }) => {
    const target = await open();
    try {
      const wadi = new Wadi(target.executor);
      const starts = new Map<string, number>();
      const work = async (contexts: readonly TaskContext[]) => {
        for (const { id } of contexts) starts.set(id, (starts.get(id) ?? 0) + 1);
        await new Promise((resolve) => setTimeout(resolve, WORK_MS));
      };
      const worker = new Worker(wadi, { concurrency: 2, prefetch: 6, backoff: { baseMs: 0 } })
        .task("plain", (context) => work([context]))
        .task("declared", (context) => work([context]), { maxRunMs: 400 })
        .task("batch", (contexts) => work(contexts), { batch: 3 })
        .task("limited", (context) => work([context]))
        .task("own rows", async (context) => {
          await work([context]);
          await context.succeedWith([]);
        })
        .task("parent", async (context) => {
          await work([context]);
          await context.submit("plain", null, { key: `child of ${context.id}` });
        });
      for (const name of ["plain", "declared", "batch", "own rows", "parent"])
        await wadi.submitMany(name, Array(4).fill({ payload: null }));
      const limits = { key: "one", concurrency: 1 };
      await wadi.submitMany("limited", Array(4).fill({ payload: null, limits }));
      let drains = 0;
      for (let more = true; more && drains < 100; drains++) {
        ({ more } = await worker.drain({ budgetMs: 1200, lingerMs: 0 }));
      }
      const tasks = await wadi.list({ limit: 100 });
      expect(tasks).toHaveLength(28);
      expect(drains).toBeGreaterThan(1);
      expect(tasks.filter(({ status }) => status !== "succeeded")).toEqual([]);
      // A task that was claimed and did not fit was released: each attempt that was spent had started. On a slow
      // machine an answer may come after its drain, which counts as a crash.
      const calm = tasks.filter(({ crashes }) => crashes === 0);
      expect(calm.map(({ id, attempt }) => [id, attempt])).toEqual(
        calm.map(({ id }) => [id, starts.get(id)]),
      );
    } finally {
      await target.close();
    }
  },
);
