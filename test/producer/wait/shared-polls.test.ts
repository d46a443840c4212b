// Waits of one client share their polls.

import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import type { Executor } from "../../../src/driver.ts";
import { pg } from "../../../src/drivers/pg.ts";
import { TaskTimeout, Wadi, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { lossy } from "../../../testing/lossy-executor.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { pgFixture } from "../../../testing/pg-fixture.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { until } from "../../../testing/until.ts";

const entries = (count: number) => Array.from({ length: count }, (_, payload) => ({ payload }));
const work = (wadi: Wadi) => new Worker(wadi).task("a", ({ payload }) => payload);

/** A client that counts its requests. */
async function counting(inner: Executor) {
  const executor = lossy(inner, () => null);
  const wadi = new Wadi(executor);
  await wadi.migrate();
  await wadi.stats();
  return { wadi, executor };
}

test("500 waits of one client poll with one statement, also when they began one after the other", async () => {
  const { wadi, executor } = await counting(memoryWadi().executor);
  const tasks = await wadi.submitMany("a", entries(500));
  executor.requests = 0;
  const options = { pollMs: 50, maxPollMs: 50, timeoutMs: 1000 };
  const waits: Promise<unknown>[] = [];
  for (let begun = 0; begun < 500; begun += 50) {
    waits.push(...tasks.slice(begun, begun + 50).map(({ id }) => wadi.wait(id, options)));
    await pause(7);
  }
  const outcomes = await Promise.allSettled(waits);
  expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
  // Ten first polls, then at most two a pause, and the rows of the last moment in pages.
  expect(executor.requests).toBeLessThan(10 + 2 * 21 + 15);
});

test.each(pickTargets(["better-sqlite3-file", "libsql-http", "d1", "pg", "neon-http"]))(
  "waits, calls and watches of every kind share their polls, on $name",
  async (target) => {
    const { executor: inner, close } = await target.open();
    try {
      const { listen: _, ...deaf } = inner;
      const limits = { ...inner.limits, maxQueries: undefined };
      const { wadi, executor } = await counting({ ...deaf, limits });
      const tasks = await wadi.submitMany(
        "a",
        entries(6).map((entry) => ({ ...entry, key: `k${entry.payload}` })),
      );
      const ids = tasks.map(({ id }) => id);
      executor.requests = 0;
      const options = { pollMs: 100, maxPollMs: 100 };
      const states: string[] = [];
      const watching = (async () => {
        for await (const { status } of wadi.watch(ids[0]!, options)) states.push(status);
      })();
      const waits = [
        wadi.wait(ids[0]!, options),
        wadi.wait(ids[0]!, options),
        wadi.waitByKey("k1", options),
        wadi.waitMany(ids.slice(2, 4), options),
        wadi.waitManyByKey(["k4", "k5", "k0"], options),
        wadi.call("a", 7, options),
      ];
      await pause(500);
      expect(executor.requests).toBeLessThan(15);
      await work(wadi).drain();
      await watching;
      const results = (await Promise.all(waits)).map((done) =>
        [done].flat().map((task) => (task as { result?: unknown }).result ?? task),
      );
      expect(results).toEqual([[0], [0], [1], [2, 3], [4, 5, 0], [7]]);
      expect([states[0], states.at(-1)]).toEqual(["queued", "succeeded"]);
    } finally {
      await close();
    }
  },
);

test("signals of many ends are answered by rows that are read a hundred at a time", async () => {
  const { wadi, executor } = await counting(memoryWadi().executor);
  const tasks = await wadi.submitMany("a", entries(250));
  const waits = tasks.map(({ id }) => wadi.wait(id, { pollMs: 600_000, maxPollMs: 600_000 }));
  await pause(0);
  await executor.run({ sql: "update cairnq_tasks set status = 'canceled'", params: [] });
  executor.requests = 0;
  internalsOf(wadi).notifier.done(tasks.map(({ id }) => id));
  expect((await Promise.all(waits)).map(({ id }) => id)).toEqual(tasks.map(({ id }) => id));
  expect(executor.requests).toBe(3);
});

test("rows that are too large for one answer are read in smaller pages", async () => {
  const { executor } = memoryWadi();
  class TooLarge extends Error {}
  const wadi = new Wadi({
    ...executor,
    run: async (statement) => {
      const rows = await executor.run(statement);
      if (rows.filter((row) => row.payload !== undefined).length > 3) throw new TooLarge("too large");
      return rows;
    },
    classify: (error) => (error instanceof TooLarge ? "rejected" : executor.classify(error)),
  });
  const tasks = await wadi.submitMany("a", entries(10));
  await work(wadi).drain();
  expect((await wadi.waitMany(tasks)).map(({ result }) => result)).toEqual(entries(10).map((e) => e.payload));
});

describe("one wait is not affected by another", () => {
  test("whose poll gets no answer", async () => {
    const { executor } = memoryWadi();
    let isMute = false;
    const wadi = new Wadi({
      ...executor,
      run: (statement) => (isMute ? new Promise(() => {}) : executor.run(statement)),
    });
    const [first, second] = await wadi.submitMany("a", entries(2));
    isMute = true;
    const stuck = wadi.wait(first!.id, { timeoutMs: 60_000 });
    await pause(0);
    isMute = false;
    await wadi.cancel(second!.id);
    expect((await wadi.wait(second!.id)).status).toBe("canceled");
    await wadi.cancel(first!.id);
    expect((await stuck).status).toBe("canceled");
  });

  test("and many of them ask a silent database seldom", async () => {
    const { executor } = memoryWadi();
    let asked = 0;
    const silence = () => {
      asked++;
      return new Promise<never>(() => {});
    };
    const wadi = new Wadi({ ...executor, run: silence, batch: silence });
    const ids = entries(50).map(({ payload }) => `task_${payload}`);
    const waits = ids.map((id) => wadi.wait(id, { timeoutMs: 3500, pollMs: 10, maxPollMs: 10 }));
    const outcomes = await Promise.allSettled(waits);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    expect(asked).toBeLessThanOrEqual(5);
  });

  test("that is closed in the middle of a shared poll", async () => {
    const { executor } = memoryWadi();
    const answers: (() => void)[] = [];
    const wadi = new Wadi({
      ...executor,
      run: async (statement) => {
        if (/json_each/.test(statement.sql)) await new Promise<void>((resolve) => answers.push(resolve));
        return executor.run(statement);
      },
    });
    const [first, second] = await wadi.submitMany("a", entries(2));
    const stop = new AbortController();
    const aborted = wadi.wait(first!.id, { signal: stop.signal });
    const watch = wadi.watch(first!.id);
    const next = watch.next();
    const other = wadi.wait(second!.id);
    await vi.waitUntil(() => answers.length === 1);
    stop.abort(new Error("gone"));
    await expect(aborted).rejects.toThrow("gone");
    await watch.return!();
    expect((await next).done).toBe(true);
    await wadi.cancel(second!.id);
    answers[0]!();
    expect((await other).status).toBe("canceled");
  });

  test("that has a shorter timeout", async () => {
    const { wadi } = await counting(memoryWadi().executor);
    const { id } = await wadi.submit("a", 1);
    const long = wadi.wait(id, { timeoutMs: 60_000 });
    await expect(wadi.wait(id, { timeoutMs: 0 })).rejects.toThrow(TaskTimeout);
    await expect(wadi.waitMany([id], { timeoutMs: 5 })).rejects.toThrow("1 of 1 tasks are not done");
    await wadi.cancel(id);
    expect((await long).status).toBe("canceled");
  });
});

test.each(["waitByKey", "watchByKey", "wait"] as const)(
  "where the platform counts queries, %s keeps within half of them, its last polls included",
  async (how) => {
    const { executor: inner, close } = await pickTargets(["d1"])[0]!.open();
    try {
      const { wadi, executor } = await counting({ ...inner, limits: { ...inner.limits, maxQueries: 20 } });
      const { id } = await wadi.submit("a", 1, { key: "k" });
      executor.requests = 0;
      const options = { timeoutMs: 1500, pollMs: 10, maxPollMs: 20 };
      const wait =
        how === "watchByKey"
          ? (async () => {
              for await (const { status } of wadi.watchByKey("k", options)) expect(status).toBe("queued");
            })()
          : how === "wait"
            ? wadi.wait(id, options)
            : wadi.waitByKey("k", options);
      await expect(wait).rejects.toThrow(TaskTimeout);
      expect(executor.requests).toBeGreaterThan(6);
      expect(executor.requests).toBeLessThanOrEqual(12);
    } finally {
      await close();
    }
  },
);

describe("with a working LISTEN", () => {
  const db = pgFixture("select 1");

  test("waits of every kind send almost no requests, and are notified of the end immediately", async () => {
    const { wadi, executor } = await counting(pg(db.pool()));
    const other = new Wadi(pg(db.pool()));
    const tasks = await other.submitMany(
      "a",
      entries(200).map((entry) => ({ ...entry, key: `k${entry.payload}` })),
    );
    const ids = tasks.map(({ id }) => id);
    const options = { timeoutMs: 60_000 };
    const waits = [
      ...ids.slice(0, 100).map((id) => wadi.wait(id, options)),
      ...tasks.slice(100, 150).map(({ payload }) => wadi.waitByKey(`k${payload}`, options)),
      wadi.waitMany(ids.slice(150), options),
    ];
    await until(() => internalsOf(wadi).notifier.doneState === "listening");
    await pause(100); // the poll for what ended before it listened
    executor.requests = 0;
    await pause(1500);
    expect(executor.requests).toBe(0);
    await work(other).drain();
    await Promise.all(waits);
    expect(executor.requests).toBeLessThan(210);
    await wadi.close();
    await other.close();
  });
});
