// Wrong arguments of submits are refused before anything is sent.

import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { defineTask, Wadi, Worker } from "../../src/index.ts";

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
      "a date in seconds",
      (w) => w.submit("a", 1, { runAt: 1_700_000_000 }),
      "runAt must be a Date or epoch milliseconds, got 1700000000, which looks like seconds or a duration",
    ],
    [
      "a deadline that is a duration",
      (w) => new Worker(w).task("a", () => 1).drain({ deadline: 20_000 }),
      "deadline must be a Date or epoch milliseconds, got 20000, which looks like seconds or a duration",
    ],
    [
      "an option of call that is none, with those of a wait among what it takes",
      (w) => w.call("a", 1, { timeout: 5 } as never),
      /^call has no option "timeout"; it takes key, .* onFailed, timeoutMs, signal, pollMs, maxPollMs, maxQueries, id$/,
    ],
    [
      "an invalid date",
      (w) => w.submit("a", 1, { runAt: new Date("x") }),
      "runAt must be a Date or epoch milliseconds, got an invalid Date",
    ],
    [
      "a definition written by hand",
      (w) => w.submit({ name: "a" } as never, 1 as never),
      "a task must be a name, or the result of defineTask({ name }), got another object",
    ],
    ["an empty name", (w) => w.submit("", 1), 'task name must be a non-empty string, got ""'],
    [
      "no name",
      (w) => w.submit(undefined as never, 1),
      "a task must be a name, or the result of defineTask({ name }), got undefined",
    ],
    [
      "a key with NUL",
      (w) => w.submit("a", 1, { key: "k\0" }),
      "key must not contain a NUL character or a lone surrogate; remove it",
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
      "entry 1 of submitMany: delayMs must be an integer from 0 to 100000000000000, got -1",
    ],
    [
      "null for a date",
      (w) => w.submit("a", 1, { runAt: null as never }),
      "runAt must be a Date or epoch milliseconds, got null",
    ],
    [
      "payloads without their entries",
      (w) => w.submitMany("a", [1, 2] as never),
      "each entry of submitMany must be an object { payload, ...options }, got 1 at 0",
    ],
    ["no entry", (w) => w.submitMany("a", [null] as never), /^each entry of submitMany must be an object/],
    [
      "a call without its options",
      (w) => w.call("a", 1, null as never),
      "the options of call must be an object, got null",
    ],
    [
      "a queue that is not in a list",
      (w) => w.stats("q" as never),
      "stats takes an array of queues, got string",
    ],
    [
      "a definition of nothing",
      () => defineTask(undefined as never),
      /^the options of defineTask must be an object, got undefined$/,
    ],
    [
      "a payload among many that is not JSON",
      (w) => w.submitMany("a", [{ payload: 1 }, { payload: { n: new Map() } }]),
      /^entry 1 of submitMany: the payload of a at n is a Map/,
    ],
    ["a number for a task", (w) => w.submit(5 as never, 1), /^a task must be a name, .* got 5$/],
    [
      "fields of a payload in place of an entry",
      (w) => w.submitMany("a", [{ n: 1 }] as never),
      /^entry 0 of submitMany: submit has no option "n"; it takes key, .*; put it into payload$/,
    ],
    [
      "an option of an entry that is none",
      (w) => w.submitMany("a", [{ payload: 1, prio: 1 }] as never),
      /^entry 0 of submitMany: submit has no option "prio"; it takes key, .* onFailed$/,
    ],
    ...(["get", "getStatus", "failures", "cancel", "retry"] as const).map((method): (typeof bad)[number] => [
      `a task for its id in ${method}`,
      (w) => w[method]({ id: "task_x", name: "a", payload: 1 } as never),
      /^id must be a string, got a task; pass task\.id$/,
    ]),
    [
      "rules of a sweep that are no list",
      (w) => w.sweep({ olderThanMs: 1 } as never),
      /^sweep takes an array of 1 to 16 retention rules, got object$/,
    ],
    [
      "a wrong rule of a sweep",
      (w) => w.sweep([{ olderThanMs: 1 }, { olderThanMs: -1 }]),
      /^retention rule 1: olderThanMs must be an integer >= 0, got -1$/,
    ],
    [
      "a debounce that is no object",
      (w) => w.submit("a", 1, { key: "k", debounce: 5 as never }),
      /^debounce must be an object, got 5$/,
    ],
    [
      "keysAcrossNames that is no flag",
      (w) => new Wadi(w.executor, { keysAcrossNames: 1 as never }),
      /^keysAcrossNames must be true or false, got 1$/,
    ],
    [
      "a metadata hook that is none",
      (w) => new Wadi(w.executor, { metadata: {} as never }),
      /^metadata must be a function, got object$/,
    ],
    [
      "resources that are no object",
      (w) => new Worker(w, { resources: 5 as never }),
      /^resources must be an object, got 5$/,
    ],
    [
      "a long name of a worker",
      (w) => new Worker(w, { name: "w".repeat(501) }),
      /^name must be at most 500 bytes .* got 501; shorten it$/,
    ],
    ["no clock", (w) => new Wadi(w.executor, { clock: 5 as never }), /^clock must be a function/],
    ["what is no list", (w) => w.submitMany("a", "x" as never), /^submitMany takes an array/],
    ["what is no executor", () => new Wadi({} as never), /^new Wadi takes an executor, such as/],
    ...[
      { tries: 0 },
      { tries: Number.NaN },
      { tries: "2" },
      { baseMs: -1 },
      { capMs: null, baseMs: 0.5 },
    ].map((retry): (typeof bad)[number] => [
      `a retry policy of ${JSON.stringify(retry)}`,
      (w) => new Wadi(w.executor, { requestRetry: retry as never }),
      /^requestRetry\.(tries|baseMs|capMs) must be an integer from /,
    ]),
    ...[new Map([["a", 1]]), new Date(), Promise.resolve({ a: 1 })].map((metadata): (typeof bad)[number] => [
      `metadata that is a ${metadata.constructor.name}`,
      (w) => w.submit("a", 1, { metadata: metadata as never }),
      "metadata must be an object with JSON values",
    ]),
    [
      "a metadata hook that answers later",
      (w) => new Wadi(w.executor, { metadata: (async () => ({ a: 1 })) as never }).submit("a", 1),
      "what the metadata hook of new Wadi returns must be an object with JSON values, got a Promise",
    ],
    [
      "a misspelt retry policy",
      (w) => new Wadi(w.executor, { requestRetry: { tires: 2 } as never }),
      /^requestRetry has no option "tires"/,
    ],
    [
      "a misspelt retry option",
      (w) => w.retry("x", { resetAtempt: true } as never),
      /^retry has no option "resetAtempt"/,
    ],
    [
      "a wait of a call",
      (w) => w.call("a", 1, { timeoutMs: -1 }),
      "timeoutMs must be an integer >= 0, got -1",
    ],
    ["a limit of 0", (w) => w.list({ limit: 0 }), "limit must be an integer from 1 to 1000, got 0"],
    [
      "a purge of nothing said",
      (w) => (w as unknown as { purge(): Promise<number> }).purge(),
      "purge takes { olderThanMs }, and { olderThanMs: 0 } deletes all that is finished",
    ],
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
    [
      "the bound of a headroom given to the depth",
      (w) => w.queueDepth("q", 500 as never),
      "queueDepth takes no limit; the room below one is queueHeadroom(queue, maxDepth)",
    ],
    ["a depth of 0", (w) => w.queueHeadroom("q", 0), "maxDepth must be an integer from 1 to 1000000, got 0"],
    [
      "a negative timeout",
      (w) => w.wait("x", { timeoutMs: -1 }),
      "timeoutMs must be an integer >= 0, got -1",
    ],
    ["a wait of nothing", (w) => w.waitByKey(""), 'key must be a non-empty string, got ""'],
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
      "budgetMs must be an integer from 1 to 2147483647, got 0",
    ],
    [
      "a second handler",
      (w) => new Worker(w).task("a", () => 1).task("a", () => 2),
      '"a" has a handler in the queue "default" already',
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
});
