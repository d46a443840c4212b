// Bulk operations: their filters, cursors and pages, lost answers, and who is notified.

import { describe, expect, test } from "vitest";
import type { Executor } from "../../src/core/executor.ts";
import { type BulkResult, Wadi, Worker } from "../../src/index.ts";
import { lossy } from "../../testing/lossy-executor.ts";
import { ManualClock, memoryWadi } from "../../testing/memory.ts";

const REQUESTS = { requestRetry: { tries: 5, baseMs: 1, capMs: 1 } };

/** A queue of 1,200 tasks, and its executor. */
async function backlog(): Promise<{ wadi: Wadi; clock: ManualClock }> {
  const clock = new ManualClock();
  const wadi = memoryWadi({ clock: clock.read });
  await wadi.submitMany("a", Array(1200).fill({ payload: null, queue: "q" }));
  return { wadi, clock };
}

describe("a bulk operation", () => {
  test("costs one round trip for each 500 tasks, and one for the count", async () => {
    const { wadi, clock } = await backlog();
    const executor = lossy(wadi.executor, () => null);
    const counted = new Wadi(executor, { clock: clock.read });
    expect(await counted.cancelMany({ queue: "q" })).toMatchObject({
      matched: 1200,
      changed: 1200,
      cursor: null,
    });
    expect(executor.requests).toBe(4);
  });

  test("goes on in later invocations, and never twice over a task", async () => {
    const { wadi } = await backlog();
    const results: BulkResult[] = [];
    for (let cursor: string | null | undefined; cursor !== null; cursor = results.at(-1)!.cursor)
      results.push(await wadi.cancelMany({ queue: "q" }, { limit: 700, ...(cursor && { cursor }) }));
    expect(results.map(({ changed }) => changed)).toEqual([700, 500]);
  });

  test("stops before it has used up the queries of an invocation", async () => {
    const { wadi, clock } = await backlog();
    const executor: Executor = lossy(wadi.executor, () => null);
    const limits = { ...executor.limits, maxQueries: 12 };
    const limited = new Wadi({ ...executor, limits } as Executor, { clock: clock.read });
    const first = await limited.cancelMany({ queue: "q" });
    expect(first).toMatchObject({ matched: 1200, changed: 1000 });
    expect(await limited.cancelMany({ queue: "q" }, { cursor: first.cursor! })).toMatchObject({
      matched: 1200,
      changed: 200,
      cursor: null,
    });
  });

  test.each(["after", "before"] as const)(
    "takes every task once if each answer is lost %s the commit",
    async (loss) => {
      const { wadi, clock } = await backlog();
      const executor = lossy(wadi.executor, (request) => (request % 2 === 1 ? loss : null));
      const unlucky = new Wadi(executor, { clock: clock.read, ...REQUESTS });
      const executed = await unlucky.cancelMany({ queue: "q" });
      expect(executed.cursor).toBeNull();
      expect((await wadi.stats(["q"])).q).toMatchObject({ canceled: 1200, queued: 0 });
      clock.advance(1);
      await unlucky.retryMany({ queue: "q", status: "canceled" });
      await new Worker(wadi, { queues: ["q"], concurrency: 100 }).task("a", () => 1).drain();
      const tasks = await wadi.list({ queue: "q", limit: 1000 });
      expect(new Set(tasks.map(({ attempt }) => attempt))).toEqual(new Set([1]));
      await unlucky.purgeMany({ queue: "q" });
      expect(await wadi.list({ queue: "q" })).toEqual([]);
    },
  );

  test("notifies the waits of what it cancels", async () => {
    const wadi = memoryWadi();
    const task = await wadi.submit("a", null, { queue: "q" });
    const wait = wadi.wait(task, { pollMs: 60_000 });
    await new Promise((resolve) => setTimeout(resolve, 20)); // its first poll
    await wadi.cancelMany({ queue: "q" });
    expect((await wait).status).toBe("canceled");
  });

  test("reads a queue of many keys and priorities to its end", async () => {
    const wadi = memoryWadi();
    const entries = Array.from({ length: 900 }, (_, i) => ({
      payload: i,
      queue: `q ${i % 7}`,
      priority: (i % 5) - 2,
      delayMs: i % 11,
      ...(i % 4 === 0 && { limits: { key: `key ${i % 13}`, concurrency: 1 } }),
    }));
    for (const name of ["a", "b", "c"]) await wadi.submitMany(name, entries);
    let changed = 0;
    let cursor: string | null | undefined;
    for (let calls = 0; cursor !== null && calls < 100; calls++) {
      const result = await wadi.cancelMany({ name: "b" }, { limit: 61, ...(cursor && { cursor }) });
      changed += result.changed;
      cursor = result.cursor;
    }
    expect([changed, cursor]).toEqual([900, null]);
    expect(await wadi.cancelMany({ status: "queued" })).toMatchObject({ matched: 1800, changed: 1800 });
  });
});

describe("a bulk operation refuses", () => {
  const wadi = memoryWadi();
  test.each([
    [{}, /cancelMany needs a filter/],
    [{ status: "failed" }, /status must be/],
    [{ key: "k" }, /cancelMany has no option "key"/],
    [{ queue: 5 }, /queue must be/],
  ])("the filter %o", async (filter, message) => {
    await expect(wadi.cancelMany(filter as never)).rejects.toThrow(message);
  });

  test.each([
    [{ limit: 0 }, /limit must be/],
    [{ resetAttempt: true }, /cancelMany has no option "resetAttempt"/],
    [{ cursor: null }, /got null, which says that nothing is left; omit it to begin/],
    [{ cursor: "x" }, /cursor must be the cursor of an earlier result/],
  ])("the options %o", async (options, message) => {
    await expect(wadi.cancelMany({ queue: "q" }, options as never)).rejects.toThrow(message);
  });

  test("the cursor of another filter or method", async () => {
    const { cursor } = await wadi.cancelMany({ queue: "q" }, { countOnly: true });
    const other = { cursor: cursor! };
    await expect(wadi.cancelMany({ queue: "r" }, other)).rejects.toThrow(/another method or filter/);
    await expect(wadi.retryMany({ queue: "q" }, other)).rejects.toThrow(/another method or filter/);
  });
});
