// Wrong arguments of a worker are refused before anything is sent.

import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { type HandlerOptions, Wadi, Worker, type WorkerOptions } from "../../src/index.ts";

const workers: [options: object, message: string][] = [
  [{ concurency: 3 }, 'new Worker has no option "concurency"; it takes queue, queues, concurrency'],
  [{ queues: [] }, "queues must be an array with at least one queue"],
  [{ queues: "mail" }, "queues must be an array with at least one queue"],
  [{ queues: ["mail", ""] }, 'queues must be a non-empty string, got ""'],
  [{ queue: "a", queues: ["b"] }, "pass either queue or queues, not both"],
  [{ resources: { gpu: 0 } }, "resources.gpu must be an integer from 1 to 10000, got 0"],
  [{ resources: ["gpu"] }, "resources must be an object, got an array"],
  [{ resources: 5 }, "resources must be an object, got 5"],
  [{ resources: null }, "resources must be an object, got null"],
  [{ prefetch: -1 }, "prefetch must be an integer from 0 to 100000, got -1"],
  [{ prefetch: "500" }, "prefetch must be a number of tasks or { tasks, bytes }, got string"],
  [{ prefetch: null }, "prefetch must be a number of tasks or { tasks, bytes }, got null"],
  [{ prefetch: {} }, "prefetch.tasks must be an integer from 0 to 100000, got undefined"],
  [{ prefetch: { tasks: 5, bytes: 0 } }, "prefetch.bytes must be an integer >= 1, got 0"],
  [{ prefetch: { task: 5 } }, 'prefetch has no option "task"; it takes tasks, bytes'],
  [{ maxInFlightBytes: 1.5 }, "maxInFlightBytes must be an integer >= 1, got 1.5"],
  [{ maxRunMs: 0 }, "maxRunMs must be an integer from 1 to 2147483647, got 0"],
  [{ leaseMs: 99 }, "leaseMs must be an integer from 100 to 2147483647, got 99"],
  [{ leaseMs: 2 ** 53 - 1 }, "leaseMs must be an integer from 100 to 2147483647, got 9007199254740991"],
  [{ backoff: { capMs: 2 ** 53 - 1 } }, "backoff.capMs must be an integer from 0 to 100000000000000, got 9"],
  [{ backoff: { baseMs: -1 } }, "backoff.baseMs must be an integer from 0 to 100000000000000, got -1"],
  [{ around: 5 }, "around must be a function"],
  [{ onEvent: "log" }, "onEvent must be a function"],
  [{ onError: {} }, "onError must be a function"],
];

test("a handler after its options is refused, with the right way round", () => {
  const worker = new Worker(new Wadi(betterSqlite3(new Database(":memory:"))));
  const options = { concurrency: 2 } as never;
  expect(() => worker.task("a", options, (() => 1) as never)).toThrow(
    /^worker.task takes \(name, handler, options\), in this order$/,
  );
});

const names: [options: object, message: string][] = [
  [{ batch: 0 }, "batch must be an integer from 1 to 10000, got 0"],
  [{ batch: true }, "batch must be an integer from 1 to 10000, got true"],
  [{ concurrency: 0 }, "concurrency must be an integer from 1 to 10000, got 0"],
  [{ queues: [] }, "queues must be an array with at least one queue"],
  [{ queue: "a", queues: ["a"] }, "pass either queue or queues, not both"],
  [
    { resource: "cpu" },
    'the resource "cpu" is not declared; pass new Worker(wadi, { resources: { "cpu": 1 } })',
  ],
  [{ resource: "constructor" }, 'the resource "constructor" is not declared'],
  [{ resource: 5 }, "resource must be a non-empty string, got 5"],
  [
    { batchSize: 5 },
    'task has no option "batchSize"; it takes queue, queues, maxRunMs, concurrency, batch, resource',
  ],
];

function offline() {
  let requests = 0;
  const executor = betterSqlite3(new Database(":memory:"));
  const count =
    <A extends unknown[], R>(send: (...args: A) => R) =>
    (...args: A) => {
      requests++;
      return send(...args);
    };
  const wadi = new Wadi({ ...executor, run: count(executor.run), batch: count(executor.batch) });
  return { wadi, requests: () => requests };
}

function refusal(call: () => unknown): unknown {
  try {
    call();
    return null;
  } catch (error) {
    return error;
  }
}

test.each(workers)("a worker with %j is refused before any request", (options, message) => {
  const { wadi, requests } = offline();
  const error = refusal(() => new Worker(wadi, options as WorkerOptions));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining(message) });
  expect(requests()).toBe(0);
});

test("a worker without a Wadi, and a handler for a definition written by hand, are refused", () => {
  const { wadi } = offline();
  for (const given of [undefined, betterSqlite3(new Database(":memory:"))]) {
    expect(() => new Worker(given as never)).toThrow("new Worker takes a Wadi");
  }
  const task = { name: "a" } as never;
  expect(() => new Worker(wadi).task(task, () => 1)).toThrow(
    /^a task must be a name, or the result of defineTask/,
  );
});

test.each(names)("a name with %j is refused", (options, message) => {
  const worker = new Worker(offline().wadi, { resources: { gpu: 1 } });
  const error = refusal(() =>
    worker.task("a", () => null, options as HandlerOptions & { batch?: undefined }),
  );
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining(message) });
});

test("a name that one of its queues has already is refused, and registers nothing", () => {
  const worker = new Worker(offline().wadi).task("a", () => 1, { queue: "y" });
  expect(refusal(() => worker.task("a", () => 2, { queues: ["x", "y"] }))).toMatchObject({
    message: '"a" has a handler in the queue "y" already; register it once, or in another queue',
  });
  worker.task("a", () => 3, { queue: "x" });
});

test("a signal that is none is refused before anything runs, and the worker can run afterwards", async () => {
  const { wadi, requests } = offline();
  const worker = new Worker(wadi).task("a", () => 1);
  const message = "signal must be an AbortSignal, got an AbortController; pass its signal";
  const signal = new AbortController() as never;
  await expect(worker.drain({ signal })).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message });
  await expect(worker.run({ signal })).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message });
  expect(requests()).toBe(0);
  expect(await worker.background(() => worker.stats().state)).toBe("running");
});
