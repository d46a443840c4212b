// Tasks without a handler are reported.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Wadi, Worker } from "../../../src/index.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";

const entries = (count: number) => Array.from({ length: count }, (_, payload) => ({ payload }));
const quiet = { logger: null };

describe.each(pickTargets(["better-sqlite3-memory", "d1", "pg"]))(
  "tasks without a handler, $name",
  (target) => {
    let open: OpenTarget;
    beforeEach(async () => {
      open = await target.open();
    });
    afterEach(() => open.close());

    test("are counted by name, where they are due and in the queues of the worker", async () => {
      const wadi = new Wadi(open.executor);
      await wadi.submitMany("b", entries(3));
      await wadi.submitMany("z", entries(130));
      await wadi.submit("a", 1);
      await wadi.submit("later", 1, { delayMs: 60_000 });
      await wadi.submit("b", 1, { queue: "elsewhere" });
      await wadi.submit("other", 1, { queue: "mine" });
      const worker = new Worker(wadi, quiet).task("a", () => 1).task("m", () => 1, { queue: "mine" });
      const summary = await worker.drain({ budgetMs: 9000 });
      expect(summary).toMatchObject({ claimed: 1, more: false, skipped: [] });
      expect([...summary.unhandled].sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
        { name: "b", queue: "default", tasks: 3 },
        { name: "other", queue: "mine", tasks: 1 },
        { name: "z", queue: "default", tasks: 100 },
      ]);
      expect((await worker.drain()).roundTrips).toBe(1);
    });

    test("are found behind later ones of a higher priority, and under a limit's key", async () => {
      const wadi = new Wadi(open.executor);
      await wadi.submitMany("b", [
        { payload: 1, priority: 5, delayMs: 60_000 },
        { payload: 2, priority: 1, limits: { key: "k", concurrency: 1 } },
        { payload: 3, priority: 0, limits: { key: "k", concurrency: 1 } },
        { payload: 4, limits: { key: "other", concurrency: 1 }, delayMs: 60_000 },
        { payload: 5, priority: -5 },
      ]);
      const { unhandled } = await new Worker(wadi, quiet).task("a", () => 1).drain();
      expect(unhandled).toEqual([{ name: "b", queue: "default", tasks: 3 }]);
    });

    test("are reported of 20 names at most", async () => {
      const wadi = new Wadi(open.executor);
      await Promise.all(Array.from({ length: 25 }, (_, n) => wadi.submit(`n${n}`, null)));
      const { unhandled } = await new Worker(wadi, quiet).task("a", () => 1).drain();
      expect(unhandled).toHaveLength(20);
    });
  },
);

test("names that a drain is too short for are reported as skipped", async () => {
  const wadi = memoryWadi();
  await wadi.submit("long", null);
  const worker = new Worker(wadi).task("long", () => 1, { maxRunMs: 60_000 }).task("a", () => 1);
  expect(await worker.drain({ budgetMs: 9000 })).toMatchObject({
    claimed: 0,
    more: false,
    unhandled: [],
    skipped: [{ name: "long", reason: "maxRunMs" }],
  });
  expect(await worker.drain({ budgetMs: 90_000 })).toMatchObject({ claimed: 1, skipped: [] });
});

test("a long-running worker reports them too, and a process is warned once", async () => {
  const clock = new ManualClock();
  const wadi = memoryWadi({ clock: clock.read });
  await wadi.submit("unknown", { secret: "payload" });
  const warn = vi.fn();
  const logger = { error: () => {}, warn };
  const worker = new Worker(wadi, { logger }).task("a", () => 1);
  await worker.drain();
  await worker.drain();
  const running = worker.run();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await worker.stop();
  expect((await running).unhandled).toEqual([{ name: "unknown", queue: "default", tasks: 1 }]);
  expect(warn.mock.calls).toEqual([
    [
      'wadi: tasks are due that this worker has no handler for: "unknown" (1 in the queue "default"); ' +
        "register a handler with worker.task, or run a worker that has one",
    ],
  ]);
});
