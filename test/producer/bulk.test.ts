// Bulk operations: `cancelMany`, `retryMany` and `purgeMany`, on both dialects and over HTTP.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BulkResult, TaskError, Wadi, Worker } from "../../src/index.ts";
import { ManualClock } from "../../testing/memory.ts";
import type { OpenTarget } from "../../testing/target.ts";
import { pickTargets } from "../../testing/targets.ts";

const refuse = () => {
  throw new TaskError("no", { retryable: false });
};

/** Calls until nothing is left, as several invocations would. */
async function all(next: (cursor: string | undefined) => Promise<BulkResult>) {
  const calls: BulkResult[] = [];
  for (let cursor: string | null | undefined; cursor !== null && calls.length < 50; ) {
    const result = await next(cursor);
    calls.push(result);
    cursor = result.cursor;
  }
  return { calls, changed: calls.reduce((sum, { changed }) => sum + changed, 0) };
}

const TARGETS = pickTargets(["better-sqlite3-memory", "libsql-http", "d1", "pg", "neon-http"]);

describe.each(TARGETS.map((target) => [target.name, target] as const))("on %s", (_, target) => {
  let opened: OpenTarget;
  let clock: ManualClock;
  let wadi: Wadi;
  beforeAll(async () => {
    opened = await target.open();
    clock = new ManualClock();
    wadi = new Wadi(opened.executor, { clock: clock.read });
  });
  afterAll(() => opened?.close());

  test("cancelMany cancels what is queued by queue and name, in pages, and nothing else", async () => {
    const names = ["a", "b"];
    const limits = (i: number) => (i % 3 === 0 ? { limits: { key: `key ${i % 2}`, concurrency: 1 } } : {});
    for (const queue of ["q1", "q2"])
      for (const name of names)
        await wadi.submitMany(
          name,
          Array.from({ length: 12 }, (_, i) => ({
            payload: i,
            queue,
            priority: [5, -1, 0][i % 3]!,
            delayMs: (i % 4) * 1000,
            ...limits(i),
          })),
        );
    const counted = await wadi.cancelMany({ queue: "q1", name: "b" }, { countOnly: true });
    expect(counted).toMatchObject({ matched: 12, changed: 0, requested: 0 });
    clock.advance(1);
    const late = await wadi.submit("b", null, { queue: "q1" });
    const { calls, changed } = await all((cursor) =>
      wadi.cancelMany({ queue: "q1", name: "b" }, { limit: 5, cursor: cursor ?? counted.cursor! }),
    );
    expect(changed).toBe(12);
    expect(calls.map(({ changed }) => changed)).toEqual([5, 5, 2]);
    expect(calls.every(({ matched }) => matched === 12)).toBe(true);
    expect((await wadi.get(late.id))?.status).toBe("queued");
    const stats = await wadi.stats();
    expect([stats.q1?.canceled, stats.q1?.queued, stats.q2?.canceled]).toEqual([12, 13, 0]);
    // By name alone, over the queues; then all that is queued.
    expect(await wadi.cancelMany({ name: "a" })).toEqual({
      matched: 24,
      changed: 24,
      requested: 0,
      cursor: null,
    });
    expect(await wadi.cancelMany({ status: "queued" })).toMatchObject({
      matched: 13,
      changed: 13,
      cursor: null,
    });
    expect(await wadi.cancelMany({ status: "queued" })).toMatchObject({
      matched: 0,
      changed: 0,
      cursor: null,
    });
  });

  test("cancelMany asks running tasks to stop, once", async () => {
    const ids = (await wadi.submitMany("run", [{ payload: 1 }, { payload: 2 }])).map(({ id }) => id);
    const results: BulkResult[] = [];
    const worker = new Worker(wadi, { concurrency: 1 }).task(
      "run",
      async (contexts) => {
        await wadi.submit("run", 3);
        results.push(await wadi.cancelMany({ queue: "default" }, { limit: 2 }));
        results.push(await wadi.cancelMany({ queue: "default" }));
        await Promise.all(contexts.map(({ heartbeat }) => heartbeat()));
      },
      { batch: 2 },
    );
    await worker.drain();
    expect(results).toMatchObject([
      { matched: 3, changed: 2, requested: 2 },
      { matched: 1, changed: 1, requested: 0, cursor: null },
    ]);
    for (const id of ids) expect((await wadi.get(id))?.status).toBe("canceled");
  });

  test("retryMany retries what failed before the count, once, and leaves others alone", async () => {
    await wadi.submitMany("fails", Array(7).fill({ payload: 1, queue: "f" }));
    await wadi.submit("other", 1, { queue: "f" });
    const drain = () =>
      new Worker(wadi, { queues: ["f"], logger: null }).task("fails", refuse).task("other", refuse);
    await drain().drain();
    clock.advance(10);
    const { calls, changed } = await all(async (cursor) => {
      const result = await wadi.retryMany(
        { queue: "f", name: "fails" },
        { limit: 3, ...(cursor && { cursor }) },
      );
      clock.advance(10);
      await drain().drain(); // those of this page fail again, after the count
      return result;
    });
    expect(changed).toBe(7);
    expect(calls[0]).toMatchObject({ matched: 7, changed: 3 });
    const tasks = await wadi.list({ queue: "f", name: "fails" });
    expect(tasks.map(({ attempt }) => attempt)).toEqual(Array(7).fill(2));
    expect(await wadi.retryMany({ name: "fails", status: "canceled" })).toMatchObject({
      matched: 0,
      changed: 0,
    });
  });

  test("by root and correlation id, all three take the family and no other task", async () => {
    const parent = await wadi.submit("p", null, { correlationId: "c 1", delayMs: 60_000 });
    const child = { delayMs: 60_000, parentId: parent.id, correlationId: "c 1" };
    await wadi.submitMany("p", Array(3).fill({ payload: null, ...child }));
    const stranger = await wadi.submit("p", null, { correlationId: "c 2", delayMs: 60_000 });
    const { cursor } = await wadi.cancelMany({ rootId: parent.id }, { countOnly: true });
    clock.advance(1);
    const late = await wadi.submit("p", null, { delayMs: 60_000, parentId: parent.id });
    const counted = { matched: 4, changed: 4, cursor: null };
    expect(await wadi.cancelMany({ rootId: parent.id }, { cursor: cursor! })).toMatchObject(counted);
    expect((await wadi.get(late.id))?.status).toBe("queued");
    expect(await wadi.cancelMany({ rootId: parent.id })).toMatchObject({ matched: 1, changed: 1 });
    clock.advance(1);
    const retried = await all((cursor) =>
      wadi.retryMany({ correlationId: "c 1", status: "canceled" }, { limit: 3, ...(cursor && { cursor }) }),
    );
    expect(retried.calls.map(({ changed }) => changed)).toEqual([3, 1]);
    expect(await wadi.cancelMany({ correlationId: "c 1", name: "p" })).toMatchObject({ changed: 4 });
    clock.advance(1);
    expect(await wadi.purgeMany({ rootId: parent.id })).toMatchObject({
      matched: 5,
      changed: 5,
      cursor: null,
    });
    expect(await wadi.get(parent.id)).toBeNull();
    expect((await wadi.get(stranger.id))?.status).toBe("queued");
  });

  test("purgeMany deletes ended tasks of every queue by name, with their keys", async () => {
    await wadi.submitMany("gone", [
      { payload: 1, key: "g1", queue: "z1" },
      { payload: 2, queue: "z2" },
      { payload: 3, queue: "z2", delayMs: 60_000 },
    ]);
    const kept = await wadi.submit("kept", 1, { queue: "z1" });
    await new Worker(wadi, { queues: ["z1", "z2"] })
      .task("gone", () => 1)
      .task("kept", () => 1)
      .drain();
    expect(await wadi.purgeMany({ name: "gone" })).toMatchObject({ matched: 2, changed: 2, cursor: null });
    expect(await wadi.getByKey("g1")).toBeNull();
    expect((await wadi.get(kept.id))?.status).toBe("succeeded");
    expect(await wadi.list({ name: "gone" })).toHaveLength(1);
  });
});
