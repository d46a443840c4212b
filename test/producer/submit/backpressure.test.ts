// Submits to a queue that is full.

import { afterEach, describe, expect, test, vi } from "vitest";
import { defineTask, QueueFull, Wadi, type WadiOptions, Worker } from "../../../src/index.ts";
import { interceptOperations } from "../../../testing/intercept.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { pickTargets } from "../../../testing/targets.ts";

/** A client that counts how often it asks for the room in a queue. */
function counted(options: WadiOptions): { wadi: Wadi; asked: string[] } {
  const wadi = memoryWadi(options);
  const asked: string[] = [];
  interceptOperations(wadi, "queueHeadroom", (send, _, { statements }) => {
    asked.push(String(statements[0]!.params[0]));
    return send();
  });
  return { wadi, asked };
}

const outcomes = async (submits: Promise<unknown>[]) =>
  (await Promise.allSettled(submits)).map(({ status }) => status === "fulfilled");

afterEach(() => {
  vi.useRealTimers();
});

test("a queue at its limit refuses, with an error that names both", async () => {
  const { wadi, asked } = counted({ maxQueueDepth: 2 });
  await wadi.submit("a", 1, { queue: "q" });
  await wadi.submit("a", 2, { queue: "q" });
  const error = await wadi.submit("a", 3, { queue: "q" }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(QueueFull);
  expect(error).toMatchObject({ code: "QUEUE_FULL", retryable: true, queue: "q", maxDepth: 2 });
  expect((error as Error).message.replace(/\d+ ms/, "n ms")).toBe(
    'the queue "q" has no room below its maxQueueDepth of 2 after a wait of n ms; ' +
      "try again later, add workers, or raise maxQueueWaitMs",
  );
  expect(asked).toEqual(["q", "q"]);
  await wadi.submit("a", 1, { queue: "another" });
  await new Worker(wadi, { queue: "q" }).task("a", () => 1).drain();
  await wadi.submit("a", 4, { queue: "q" });
});

test("the room is asked for once and spent for a second", async () => {
  vi.useFakeTimers();
  const { wadi, asked } = counted({ maxQueueDepth: 10 });
  for (let n = 0; n < 5; n++) await wadi.submit("a", n);
  expect(asked.length).toBe(1);
  vi.advanceTimersByTime(999);
  await wadi.submit("a", 5);
  expect(asked.length).toBe(1);
  vi.advanceTimersByTime(1);
  await wadi.submit("a", 6);
  expect(asked.length).toBe(2);
});

test("submits of one moment share the question, and as many pass as have room", async () => {
  const { wadi, asked } = counted({ maxQueueDepth: 4 });
  const passed = await outcomes(Array.from({ length: 10 }, (_, n) => wadi.submit("a", n)));
  expect(passed).toEqual([...Array(4).fill(true), ...Array(6).fill(false)]);
  expect((await wadi.stats()).default!.queued).toBe(4);
  expect(asked.length).toBe(1);
  // They share their round trip too.
  const sent: number[] = [];
  interceptOperations(wadi, "submit", async (send) => {
    const tasks = await send();
    sent.push(tasks.length);
    return tasks;
  });
  for (const { id } of await wadi.list()) await wadi.cancel(id);
  await Promise.all([1, 2, 3].map((n) => wadi.submit("a", n)));
  await Promise.all([4].map((n) => wadi.submit("a", n)));
  expect(sent).toEqual([3, 1]);
});

test("a limit by queue leaves the others alone", async () => {
  const { wadi, asked } = counted({ maxQueueDepth: { small: 1 } });
  const queues = ["small", "small", "big", "big", "toString"];
  expect(await outcomes(queues.map((queue) => wadi.submit("a", 1, { queue })))).toEqual([
    true,
    false,
    true,
    true,
    true,
  ]);
  expect(new Set(asked)).toEqual(new Set(["small"]));
});

test("a list is queued whole or not at all", async () => {
  const { wadi } = counted({ maxQueueDepth: 3 });
  const entries = (count: number, queue = "q") =>
    Array.from({ length: count }, (_, payload) => ({ payload, queue }));
  await wadi.submitMany("a", entries(2));
  await expect(wadi.submitMany("a", [...entries(1, "free"), ...entries(2)])).rejects.toThrow(QueueFull);
  expect(await wadi.stats(["q", "free"])).toMatchObject({ q: { queued: 2 }, free: { queued: 0 } });
  await expect(wadi.submitMany("a", entries(4))).rejects.toThrow(
    '4 tasks at once never fit the maxQueueDepth of 3 of the queue "q"; submit fewer',
  );
  // A list that never fits leaves no waiter behind whose later failure would be unhandled.
  const unhandled: unknown[] = [];
  const onRejection = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", onRejection);
  await wadi.submitMany("a", entries(1));
  await expect(wadi.submitMany("a", [...entries(1), ...entries(4, "other")])).rejects.toThrow("never fit");
  await new Promise((resolve) => setTimeout(resolve, 5));
  process.off("unhandledRejection", onRejection);
  expect(unhandled).toEqual([]);
});

describe("with time to wait", () => {
  test("a submit passes once there is room, with growing pauses, in the order it came", async () => {
    vi.useFakeTimers();
    const { wadi, asked } = counted({ maxQueueDepth: 1, maxQueueWaitMs: 60_000 });
    const first = await wadi.submit("a", 0);
    const order: number[] = [];
    const waiting = [1, 2, 3].map((n) => wadi.submit("a", n).then(() => order.push(n)));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(order).toEqual([]);
    // 50 ms, 100 ms, ... up to a second each, and only the first in line asks.
    expect(asked.length).toBeGreaterThan(10);
    expect(asked.length).toBeLessThan(30);
    await wadi.cancel(first.id);
    for (let n = 1; n <= 3; n++) {
      await vi.advanceTimersByTimeAsync(2_000);
      expect(order).toEqual([1, 2, 3].slice(0, n));
      for (const task of await wadi.list({ status: "queued" })) await wadi.cancel(task.id);
    }
    await Promise.all(waiting);
  });

  test("it fails when the time is up, and leaves no timer", async () => {
    vi.useFakeTimers();
    const { wadi } = counted({ maxQueueDepth: 1, maxQueueWaitMs: 500 });
    await wadi.submit("a", 0);
    const passed = outcomes([wadi.submit("a", 1), wadi.submit("a", 2)]);
    await vi.advanceTimersByTimeAsync(499);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await passed).toEqual([false, false]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("a question that fails is no answer for those who wait behind it", async () => {
  const { wadi } = counted({ maxQueueDepth: 5, requestRetry: { tries: 1 } });
  await wadi.migrate();
  const remove = interceptOperations(wadi, "queueHeadroom", async () => {
    remove();
    throw new Error("down");
  });
  expect(await outcomes([wadi.submit("a", 1), wadi.submit("a", 2)])).toEqual([false, true]);
});

test.each(pickTargets(["d1", "pg"]))("the limit holds for one producer on $name", async (target) => {
  const { executor, close } = await target.open();
  try {
    const wadi = new Wadi(executor, { maxQueueDepth: { default: 7 } });
    const passed = await outcomes(Array.from({ length: 20 }, (_, n) => wadi.submit("a", n)));
    expect(passed.filter(Boolean).length).toBe(7);
    expect(await wadi.queueHeadroom("default", 10)).toBe(3);
  } finally {
    await close();
  }
});

test("the metadata hook adds to what each submit says", async () => {
  const seen: object[] = [];
  const wadi = memoryWadi({
    metadata: (task) => {
      seen.push(task);
      return { traceparent: "00-1", by: "hook" };
    },
  });
  const mail = defineTask({ name: "mail", queue: "q" });
  const one = await wadi.submit(mail, 1, { metadata: { by: "submit", n: 1 } });
  expect(one.metadata).toEqual({ traceparent: "00-1", by: "submit", n: 1 });
  const many = await wadi.submitMany("b", [{ payload: 1 }, { payload: 2, key: "k", metadata: { n: 2 } }]);
  expect(many.map(({ metadata }) => metadata)).toEqual([
    { traceparent: "00-1", by: "hook" },
    { traceparent: "00-1", by: "hook", n: 2 },
  ]);
  expect(seen).toEqual([
    { name: "mail", queue: "q" },
    { name: "b", queue: "default" },
    { name: "b", queue: "default" },
  ]);
  const broken = memoryWadi({ metadata: () => "trace" as never });
  await expect(broken.submit("a", 1)).rejects.toThrow(
    "what the metadata hook of new Wadi returns must be an object with JSON values, got string",
  );
});

test.each<[options: WadiOptions, message: string]>([
  [{ maxQueueDepth: 0 }, "maxQueueDepth must be an integer from 1 to 1000000, got 0"],
  [{ maxQueueDepth: "9" as never }, "maxQueueDepth must be an integer from 1 to 1000000, got string"],
  [{ maxQueueDepth: null as never }, "maxQueueDepth must be an integer from 1 to 1000000, got null"],
  [{ maxQueueDepth: [5] as never }, "maxQueueDepth must be an integer from 1 to 1000000, got an array"],
  [{ maxQueueDepth: { q: 1.5 } }, "maxQueueDepth.q must be an integer from 1 to 1000000, got 1.5"],
  [{ maxQueueWaitMs: -1 }, "maxQueueWaitMs must be an integer from 0 to 2147483647, got -1"],
  [{ metadata: {} as never }, "metadata must be a function, got object"],
  [{ maxDepth: 1 } as never, 'new Wadi has no option "maxDepth"; it takes '],
])("refuses %j", (options, message) => {
  expect(() => memoryWadi(options)).toThrow(message);
});
