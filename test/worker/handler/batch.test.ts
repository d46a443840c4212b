// Handlers of batches.

import * as v from "valibot";
import { expect, test } from "vitest";
import { defineTask, type TaskContext, TaskError, type Wadi, Worker } from "../../../src/index.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, payload) => ({ payload }));

async function resultsOf(wadi: Wadi): Promise<unknown[]> {
  return (await wadi.list({ limit: 1000 })).map(({ result }) => result).reverse();
}

test("a call gets as many tasks as are due, up to the batch, and the rest another call", async () => {
  const wadi = memoryWadi();
  await wadi.submitMany("a", numbers(600));
  const sizes: number[] = [];
  const worker = new Worker(wadi, { concurrency: 1 }).task(
    "a",
    (contexts) => {
      sizes.push(contexts.length);
    },
    { batch: 256 },
  );
  expect(await worker.drain()).toMatchObject({ claimed: 600, succeeded: 600, roundTrips: 4 });
  expect(sizes).toEqual([256, 256, 88]);
});

test.each([
  ["a map", (contexts: readonly TaskContext[]) => new Map(contexts.map(({ id, payload }) => [id, payload]))],
  [
    "an object",
    async (contexts: readonly TaskContext[]) =>
      Object.fromEntries(contexts.map(({ id, payload }) => [id, payload])),
  ],
])("%s has the results by id", async (_, handler) => {
  const wadi = memoryWadi();
  await wadi.submitMany("a", numbers(3));
  await new Worker(wadi).task("a", handler, { batch: 10 }).drain();
  expect(await resultsOf(wadi)).toEqual([0, 1, 2]);
});

test.each([["nothing"], [null], [7], [[undefined]], [{ toString: 1 }], [Object.create({ inherited: 1 })]])(
  "what has no result for a task makes it succeed with null: %j",
  async (returned) => {
    const wadi = memoryWadi();
    await wadi.submitMany("a", numbers(2));
    const handler = (() => returned) as () => undefined;
    expect(await new Worker(wadi).task("a", handler, { batch: 2 }).drain()).toMatchObject({ succeeded: 2 });
    expect(await resultsOf(wadi)).toEqual([null, null]);
  },
);

test("a throw fails each task that was not ended, with its own backoff", async () => {
  const clock = new ManualClock();
  const wadi = memoryWadi({ clock: clock.read });
  await wadi.submitMany("a", numbers(40));
  const worker = new Worker(wadi, { backoff: { baseMs: 1_000_000, capMs: 1_000_000 } }).task(
    "a",
    ([first, second]) => {
      first!.succeed("early");
      second!.fail(new TaskError("no", { retryable: false }));
      throw new Error("the rest");
    },
    { batch: 40 },
  );
  expect(await worker.drain()).toMatchObject({ succeeded: 1, failed: 1, retried: 38, more: false });
  const queued = (await wadi.list({ limit: 100 })).filter(({ status }) => status === "queued");
  expect(queued).toHaveLength(38);
  expect(new Set(queued.map(({ runAtMs }) => runAtMs)).size).toBeGreaterThan(30);
  expect(queued[0]).toMatchObject({ attempt: 1, error: { message: "the rest", code: "handler_error" } });
});

test("a throw that is not retryable fails all of them for good", async () => {
  const wadi = memoryWadi();
  await wadi.submitMany("a", numbers(3));
  const worker = new Worker(wadi).task(
    "a",
    () => Promise.reject(new TaskError("never", { retryable: false })),
    { batch: 3 },
  );
  expect(await worker.drain()).toMatchObject({ failed: 3 });
});

test("a result that cannot be read from the returned value fails its task", async () => {
  const wadi = memoryWadi();
  const [first] = await wadi.submitMany("a", numbers(2));
  const results = {
    get [first!.id](): number {
      throw new Error("no such thing");
    },
  };
  const worker = new Worker(wadi).task("a", async () => results, { batch: 2 });
  expect(await worker.drain({ lingerMs: 0 })).toMatchObject({ succeeded: 1, retried: 1 });
  expect((await wadi.get(first!.id))?.error).toMatchObject({ message: "no such thing" });
});

test("an array of results does not say which tasks they belong to, and fails them", async () => {
  const wadi = memoryWadi();
  await wadi.submitMany("a", numbers(2));
  const handler = async (contexts: readonly TaskContext[]) => contexts.map(() => 1);
  await new Worker(wadi).task("a", handler as never, { batch: 2 }).drain();
  const errors = (await wadi.list()).map(({ error }) => error);
  expect(errors).toEqual(
    Array(2).fill(
      expect.objectContaining({ code: "invalid_result", message: expect.stringMatching(/a Map/) }),
    ),
  );
});

test("an invalid payload fails its task only, and the handler does not get it", async () => {
  const wadi = memoryWadi();
  const task = defineTask({ name: "a", payload: v.number(), result: v.number() });
  for (const payload of [1, "two", 3]) await wadi.submit("a", payload);
  const seen: number[] = [];
  const worker = new Worker(wadi).task(
    task,
    (contexts) => {
      seen.push(...contexts.map(({ payload }) => payload));
      return new Map(contexts.map(({ id, payload }) => [id, payload + 1]));
    },
    { batch: 3 },
  );
  expect(await worker.drain()).toMatchObject({ succeeded: 2, failed: 1 });
  expect(seen).toEqual([1, 3]);
  expect(await resultsOf(wadi)).toEqual([2, null, 4]);
});

test("a result that its schema refuses fails its task only", async () => {
  const wadi = memoryWadi();
  const task = defineTask({ name: "a", payload: v.number(), result: v.number() });
  const tasks = await wadi.submitMany(task, [{ payload: 1 }, { payload: 2 }]);
  const worker = new Worker(wadi).task(
    task,
    () => ({ [tasks[0]!.id]: "one" as unknown as number, [tasks[1]!.id]: 2 }),
    { batch: 2 },
  );
  expect(await worker.drain()).toMatchObject({ succeeded: 1, failed: 1 });
  expect((await wadi.get(tasks[0]!.id))?.error).toMatchObject({ code: "invalid_result" });
});

test("a batch that runs past its maxRunMs is timed out, except the tasks that had ended", async () => {
  const wadi = memoryWadi();
  await wadi.submitMany("a", numbers(3));
  const worker = new Worker(wadi).task(
    "a",
    (contexts) => {
      contexts[0]!.succeed(1);
      return new Promise<never>(() => {});
    },
    { batch: 3, maxRunMs: 20 },
  );
  expect(await worker.drain({ budgetMs: 1000, lingerMs: 0 })).toMatchObject({ succeeded: 1, retried: 2 });
});

test("one task of a batch that is canceled does not disturb the others", async () => {
  const wadi = memoryWadi();
  const [first] = await wadi.submitMany("a", numbers(2));
  const worker = new Worker(wadi).task(
    "a",
    async (contexts) => {
      await wadi.cancel(first!.id);
      for (const context of contexts) await context.heartbeat();
      expect(contexts.map(({ canceled, signal }) => [canceled, signal.aborted])).toEqual([
        [true, true],
        [false, false],
      ]);
    },
    { batch: 2 },
  );
  expect(await worker.drain()).toMatchObject({ canceled: 1, succeeded: 1 });
});
