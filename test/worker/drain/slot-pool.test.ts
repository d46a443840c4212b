// How names and resources share slots.

import { describe, expect, test } from "vitest";
import { type Handler, Worker } from "../../../src/index.ts";
import { memoryWadi } from "../../../testing/memory.ts";

const some = (count: number) => Array.from({ length: count }, (_, payload) => ({ payload }));

/** A handler that counts how many of its calls run at a time, over all names that share it. */
function counted() {
  const seen = { running: 0, most: 0 };
  const handler: Handler = async () => {
    seen.most = Math.max(seen.most, ++seen.running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    seen.running--;
  };
  return { seen, handler };
}

describe("slots", () => {
  test("a name with a concurrency has dedicated slots, in addition to those that the others share", async () => {
    const wadi = memoryWadi();
    for (const name of ["few", "b", "c"]) await wadi.submitMany(name, some(20));
    const [few, others] = [counted(), counted()];
    const worker = new Worker(wadi, { concurrency: 3 })
      .task("few", few.handler, { concurrency: 2 })
      .task("b", others.handler)
      .task("c", others.handler);
    expect(await worker.drain()).toMatchObject({ succeeded: 60, lost: 0 });
    expect(few.seen.most).toBe(2);
    expect(others.seen.most).toBe(3);
  });

  test("names that share a resource run no more calls than it has, each no more than its own", async () => {
    const wadi = memoryWadi();
    for (const name of ["a", "b", "c"]) await wadi.submitMany(name, some(15));
    const [gpu, c] = [counted(), counted()];
    const worker = new Worker(wadi, { concurrency: 10, resources: { gpu: 3 }, prefetch: 20 })
      .task("a", gpu.handler, { resource: "gpu" })
      .task("b", gpu.handler, { resource: "gpu" })
      .task(
        "c",
        async (context) => {
          await Promise.all([gpu.handler(context), c.handler(context)]);
        },
        { resource: "gpu", concurrency: 1 },
      );
    expect(await worker.drain()).toMatchObject({ succeeded: 45 });
    expect(gpu.seen.most).toBe(3);
    expect(c.seen.most).toBe(1);
  });

  test("concurrency counts calls of a batch, not its tasks", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany("a", some(100));
    const { seen, handler } = counted();
    const worker = new Worker(wadi).task("a", async ([context]) => void (await handler(context!)), {
      batch: 5,
      concurrency: 2,
    });
    expect(await worker.drain()).toMatchObject({ succeeded: 100 });
    expect(seen.most).toBe(2);
  });

  test("all quotas are drawn in one round trip", async () => {
    const wadi = memoryWadi();
    for (const name of ["a", "b", "c"]) await wadi.submitMany(name, some(4));
    const worker = new Worker(wadi, { concurrency: 4, resources: { disk: 4 } })
      .task("a", () => 1)
      .task("b", () => 1, { concurrency: 4 })
      .task("c", () => 1, { resource: "disk" });
    expect(await worker.drain()).toMatchObject({ succeeded: 12, roundTrips: 2 });
  });
});

describe("queues", () => {
  test("one worker serves names of several queues, and a name in several", async () => {
    const wadi = memoryWadi();
    await wadi.submit("a", 1, { queue: "mail" });
    await wadi.submit("b", 2, { queue: "images" });
    await wadi.submit("b", 3, { queue: "mail" });
    await wadi.submit("c", 4, { queue: "elsewhere" });
    const seen: unknown[] = [];
    const worker = new Worker(wadi, { queues: ["mail", "images"], concurrency: 1 })
      .task("a", ({ payload }) => void seen.push(payload), { queue: "mail" })
      .task("b", ({ payload }) => void seen.push(payload));
    expect(await worker.drain()).toMatchObject({ succeeded: 3, more: false });
    expect(seen.sort()).toEqual([1, 2, 3]);
  });

  test("a name in several queues has its concurrency once", async () => {
    const wadi = memoryWadi();
    for (const queue of ["x", "y"]) {
      for (let i = 0; i < 10; i++) await wadi.submit("a", null, { queue });
    }
    const { seen, handler } = counted();
    const worker = new Worker(wadi).task("a", handler, { queues: ["x", "y"], concurrency: 2 });
    expect(await worker.drain()).toMatchObject({ succeeded: 20 });
    expect(seen.most).toBe(2);
  });
});

test("names take turns, so that a deep backlog starves no other name", async () => {
  const wadi = memoryWadi();
  await wadi.submitMany("deep", some(200));
  await wadi.submitMany("late", some(5));
  const order: string[] = [];
  const handler: Handler = ({ task }) => void order.push(task.name);
  const worker = new Worker(wadi, { concurrency: 4 }).task("deep", handler).task("late", handler);
  await worker.drain();
  expect(order.slice(0, 12).filter((name) => name === "late")).toHaveLength(5);
});

test("a name whose tasks run long does not get every slot that another name frees", async () => {
  const wadi = memoryWadi();
  await wadi.submitMany("long", some(50));
  await wadi.submitMany("short", some(50));
  let release = () => {};
  const end = new Promise<void>((resolve) => {
    release = resolve;
  });
  let short = 0;
  let long = 0;
  const worker = new Worker(wadi, { concurrency: 4 })
    .task("long", async () => {
      long++;
      await end;
    })
    .task("short", () => {
      if (++short === 40) release();
    });
  await worker.drain();
  // By turns a slot that is freed goes to the name that has fewer: two slots stay with the short ones.
  expect([long, short]).toEqual([50, 50]);
});
