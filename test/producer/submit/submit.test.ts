// Submits of one task and of many.

import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { defineTask, Wadi } from "../../../src/index.ts";
import { memoryWadi } from "../../../testing/memory.ts";

describe("submit", () => {
  test("returns the task as it is stored", async () => {
    const wadi = memoryWadi();
    const at = Date.now() + 60_000;
    const task = await wadi.submit(
      "a",
      { x: [1, "é", null] },
      {
        queue: "q",
        maxAttempts: 5,
        priority: -3,
        runAt: new Date(at),
        metadata: { trace: "t" },
        correlationId: "c",
      },
    );
    expect(task).toMatchObject({
      outcome: "created",
      queue: "q",
      maxAttempts: 5,
      priority: -3,
      runAtMs: at,
      rootId: task.id,
    });
    expect(await wadi.get(task.id)).toEqual({ ...task, outcome: undefined });
  });

  test("a definition's defaults apply, and options win over them", async () => {
    const wadi = memoryWadi();
    const task = defineTask<null>({ name: "a", queue: "q", maxAttempts: 7, priority: 2 });
    expect(await wadi.submit(task, null)).toMatchObject({ queue: "q", maxAttempts: 7, priority: 2 });
    expect(await wadi.submit(task, null, { queue: "r", priority: 0 })).toMatchObject({
      queue: "r",
      priority: 0,
    });
  });

  test("an undefined payload is an empty object", async () => {
    expect((await memoryWadi().submit("a", undefined)).payload).toEqual({});
  });

  test("reject names the key and the task that has it", async () => {
    const wadi = memoryWadi();
    const first = await wadi.submit("a", 1, { key: "k" });
    await expect(wadi.submit("a", 2, { key: "k", conflict: "reject" })).rejects.toMatchObject({
      name: "AlreadyExists",
      key: "k",
      taskId: first.id,
    });
    expect(await wadi.list()).toHaveLength(1);
  });
});

describe("submitMany", () => {
  test("mixes keyed and plain tasks and keeps their order, also for a key that comes twice", async () => {
    const wadi = memoryWadi();
    const tasks = await wadi.submitMany("a", [
      { payload: 1 },
      { payload: 2, key: "k" },
      { payload: 3, key: "k" },
      { payload: 4, key: "k", conflict: "replace" },
      { payload: 5, key: "k", conflict: "reject" },
    ]);
    expect(tasks.map((task) => [task.payload, task.outcome])).toEqual([
      [1, "created"],
      [2, "created"],
      [2, "reused"],
      [4, "created"],
      [4, "rejected"],
    ]);
    expect((await wadi.getByKey("k"))?.payload).toBe(4);
    expect((await wadi.stats()).default).toMatchObject({ queued: 2, canceled: 1 });
  });

  test("splits where a parameter would be larger than the database takes", async () => {
    const executor = betterSqlite3(new Database(":memory:"));
    const sizes: number[] = [];
    const wadi = new Wadi({
      ...executor,
      limits: { ...executor.limits, maxParamBytes: 4000 },
      batch: (statements) => {
        const params = statements.flatMap((statement) => statement.params);
        sizes.push(...params.map((param) => new TextEncoder().encode(String(param)).length));
        return executor.batch(statements);
      },
    });
    await wadi.migrate();
    await wadi.stats();
    await wadi.submitMany(
      "a",
      Array.from({ length: 100 }, () => ({ payload: "é".repeat(50) })),
    );
    const parts = sizes.filter((size) => size > 1000);
    expect(parts.length).toBeGreaterThan(5);
    expect(Math.max(...parts)).toBeLessThanOrEqual(4000);
    expect((await wadi.stats()).default).toMatchObject({ queued: 100 });
  });

  test("keeps every scalar as it is, with and without escapes next to it", async () => {
    const texts = ["", "5", "null", '{"a":1}', 'a"\\/', "\u2028", "é😀"];
    const numbers = [0, -1, 2 ** 53, 1e18, 2 ** 63, 1e21, 0.1 + 0.2, 5e-324, 1.7976931348623157e308];
    const plain = [...texts, ...numbers, true, false, null, [], {}, [1], { "": 1 }];
    for (const payloads of [plain, [...plain, "\u0000x", "\n", "\ud800"]]) {
      const wadi = memoryWadi();
      const submitted = await wadi.submitMany(
        "a",
        payloads.map((payload) => ({ payload })),
      );
      const stored = await Promise.all(submitted.map(({ id }) => wadi.get(id)));
      expect(stored.map((task) => task?.payload)).toEqual(payloads);
    }
  });

  test("of nothing sends nothing", async () => {
    expect(await memoryWadi().submitMany("a", [])).toEqual([]);
  });
});
