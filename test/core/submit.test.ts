import Database from "better-sqlite3";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { defineTask, Wadi, Worker } from "../../src/core/index.ts";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { memoryWadi } from "../support/memory.ts";

describe("bad input is refused before anything is sent, and the message names it", () => {
  const bad: [what: string, call: (wadi: Wadi) => unknown, message: string | RegExp][] = [
    [
      "an unknown policy",
      (w) => w.submit("a", 1, { key: "k", conflict: "merge" as never }),
      /^conflict must be one of reuse, .* got "merge"$/,
    ],
    [
      "a policy without a key",
      (w) => w.submit("a", 1, { conflict: "reject" }),
      "conflict needs a key; pass key too",
    ],
    [
      "a negative delay",
      (w) => w.submit("a", 1, { delayMs: -1 }),
      "delayMs must be an integer from 0 to 100000000000000, got -1",
    ],
    [
      "a fractional delay",
      (w) => w.submit("a", 1, { delayMs: 0.5 }),
      "delayMs must be an integer from 0 to 100000000000000, got 0.5",
    ],
    [
      "a delay and a date",
      (w) => w.submit("a", 1, { delayMs: 1, runAt: 5 }),
      "pass either runAt or delayMs, not both",
    ],
    [
      "an invalid date",
      (w) => w.submit("a", 1, { runAt: new Date("x") }),
      "runAt must be an integer >= 0, got NaN",
    ],
    [
      "an empty name",
      (w) => w.submit("", 1),
      "task name must be a string that is not empty, got an empty string",
    ],
    [
      "no name",
      (w) => w.submit(undefined as never, 1),
      "task name must be a string that is not empty, got undefined",
    ],
    [
      "a key with NUL",
      (w) => w.submit("a", 1, { key: "k\0" }),
      "key holds a NUL character or half of a surrogate pair; remove it",
    ],
    [
      "a long key",
      (w) => w.submit("a", 1, { key: "k".repeat(1025) }),
      "key must be at most 1024 characters, got 1025",
    ],
    [
      "no attempts",
      (w) => w.submit("a", 1, { maxAttempts: 0 }),
      "maxAttempts must be an integer from 1 to 1000000, got 0",
    ],
    [
      "a huge priority",
      (w) => w.submit("a", 1, { priority: 1001 }),
      "priority must be an integer from -1000 to 1000, got 1001",
    ],
    [
      "a misspelt option",
      (w) => w.submit("a", 1, { prio: 1 } as never),
      /^submit has no option "prio"; it takes key, /,
    ],
    [
      "metadata that is no object",
      (w) => w.submit("a", 1, { metadata: [1] as never }),
      "metadata must be an object with JSON values",
    ],
    [
      "a payload that is not JSON",
      (w) => w.submit("a", { n: 1n }),
      "the payload of a at n is a bigint, which JSON cannot hold; pass plain JSON values",
    ],
    [
      "a bad entry among many",
      (w) => w.submitMany("a", [{ payload: 1 }, { payload: 2, delayMs: -1 }]),
      "delayMs must be an integer from 0 to 100000000000000, got -1",
    ],
    ["a limit of 0", (w) => w.list({ limit: 0 }), "limit must be an integer from 1 to 1000, got 0"],
    [
      "a purge limit of 0",
      (w) => w.purge({ olderThanMs: 0, limit: 0 }),
      "limit must be an integer from 1 to 100000, got 0",
    ],
    [
      "a purge of live tasks",
      (w) => w.purge({ olderThanMs: 0, status: "queued" as never }),
      'status must be one of succeeded, failed, canceled, got "queued"',
    ],
    ["a depth of 0", (w) => w.queueDepth("q", 0), "maxDepth must be an integer from 1 to 1000000, got 0"],
    [
      "a negative timeout",
      (w) => w.wait("x", { timeoutMs: -1 }),
      "timeoutMs must be an integer >= 0, got -1",
    ],
    [
      "a wait of nothing",
      (w) => w.waitByKey(""),
      "key must be a string that is not empty, got an empty string",
    ],
    [
      "a worker without slots",
      (w) => new Worker(w, { concurrency: 0 }),
      "concurrency must be an integer from 1 to 10000, got 0",
    ],
    [
      "a drain without handlers",
      (w) => new Worker(w).drain(),
      "drain needs a handler: call worker.task(...) first",
    ],
    [
      "a drain without time",
      (w) => new Worker(w).task("a", () => 1).drain({ budgetMs: 0 }),
      "budgetMs must be an integer >= 1, got 0",
    ],
    [
      "a second handler",
      (w) => new Worker(w).task("a", () => 1).task("a", () => 2),
      '"a" has a handler in the queue "default" already',
    ],
    [
      "a schema that is none",
      () => defineTask({ name: "a", payload: {} as never }),
      "payload must be a Standard Schema (zod, valibot, arktype, ...)",
    ],
  ];
  test.each(bad)("%s", async (_what, call, message) => {
    let requests = 0;
    const executor = betterSqlite3(new Database(":memory:"));
    const counting = { ...executor, run: count(executor.run), batch: count(executor.batch) };
    function count<A extends unknown[], R>(send: (...args: A) => R) {
      return (...args: A) => {
        requests++;
        return send(...args);
      };
    }
    const wadi = new Wadi(counting);
    const error = await Promise.resolve()
      .then(() => call(wadi))
      .then(
        () => null,
        (thrown: unknown) => thrown,
      );
    expect(error).toMatchObject({
      code: expect.stringMatching(/^(INVALID_ARGUMENT|SERIALIZATION_ERROR)$/),
      retryable: false,
    });
    expect((error as Error).message).toMatch(message);
    expect(requests).toBe(0);
  });

  test("a payload its schema refuses, with the places that are wrong and never the value", async () => {
    const task = defineTask({
      name: "mail",
      payload: v.object({ to: v.pipe(v.string(), v.email()), n: v.number() }),
    });
    const wadi = memoryWadi();
    await expect(wadi.submit(task, { to: "hunter2", n: "1" as never })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(/^the payload of mail is invalid: to: .*; n: /),
    });
    expect(await wadi.list()).toEqual([]);
  });
});

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

  test("an undefined payload is null", async () => {
    expect((await memoryWadi().submit("a", undefined)).payload).toBeNull();
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

  test("keeps every scalar as it is, with and without escapes beside it", async () => {
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
