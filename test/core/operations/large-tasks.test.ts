// Claims of more bytes than one response of the database may have.

import { expect, test } from "vitest";
import { taskBytesPerResponse } from "../../../src/core/operations/claim-response-size.ts";
import type { Executor } from "../../../src/driver.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { storeOf } from "../../../testing/store.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";

const NEON_MB = 3_600_000;

async function open(name: string, test: (target: OpenTarget) => Promise<void>): Promise<void> {
  const target = await pickTargets([name])[0]!.open();
  try {
    await test(target);
  } finally {
    await target.close();
  }
}

/** Text of which every second byte is escaped where JSON travels inside JSON. */
const quotes = (bytes: number): string => '"'.repeat(Math.floor(bytes / 3));

test(
  "tasks larger than one response of Neon are claimed in several, and do not delay a later one",
  {
    timeout: 60_000,
  },
  () =>
    open("neon-http", async ({ executor }) => {
      const wadi = new Wadi(executor);
      for (let n = 0; n < 3; n++) await wadi.submit("large", "x".repeat(NEON_MB));
      const worker = new Worker(wadi);
      const ran: string[] = [];
      worker.task("large", async () => {
        ran.push("large");
      });
      worker.task("urgent", async () => {
        ran.push("urgent");
      });
      await wadi.submit("urgent", 1, { priority: 9 });
      const summary = await worker.drain({ budgetMs: 20_000 });
      expect(summary).toMatchObject({ claimed: 4, succeeded: 4, more: false });
      expect(ran.sort()).toEqual(["large", "large", "large", "urgent"]);
    }),
);

test(
  "450 payloads of 25 kB are prefetched on Neon, with few more round trips than one for each response",
  {
    timeout: 60_000,
  },
  () =>
    open("neon-http", async ({ executor }) => {
      const wadi = new Wadi(executor);
      await wadi.submitMany(
        "a",
        Array.from({ length: 450 }, () => ({ payload: quotes(25_000) })),
      );
      const worker = new Worker(wadi, { prefetch: 500 });
      worker.task("a", () => null);
      const { succeeded, roundTrips, more } = await worker.drain({ budgetMs: 30_000 });
      expect({ succeeded, more }).toEqual({ succeeded: 450, more: false });
      expect(roundTrips).toBeLessThan(40);
    }),
);

/** The same database behind a client that takes smaller answers, and refuses larger ones as Neon does. */
function narrow(executor: Executor, maxResponseBytes: number): Executor {
  const check = <T>(rows: T): T => {
    const bytes = JSON.stringify(rows).length;
    if (bytes > maxResponseBytes) throw new Error(`an answer of ${bytes} bytes`);
    return rows;
  };
  return {
    ...executor,
    limits: { ...executor.limits, maxResponseBytes },
    run: async (statement) => check(await executor.run(statement)),
    batch: async (statements, options) => check(await executor.batch(statements, options)),
  };
}

test.each(["better-sqlite3-memory", "libsql-http", "d1", "pg"])(
  "a task too large for any response is skipped and reported, and the tasks behind it run, on %s",
  { timeout: 60_000 },
  (name) =>
    open(name, async ({ executor }) => {
      const max = 200_000;
      const wadi = new Wadi(narrow(executor, max), { requestRetry: { tries: 1 } });
      const huge = await wadi.submit("a", quotes(400_000), { priority: 5 });
      for (let n = 0; n < 30; n++) await wadi.submit("a", quotes(n % 3 === 0 ? 30_000 : 10));
      await wadi.submit("a", 1, { delayMs: 3_600_000 });
      const worker = new Worker(wadi, { concurrency: 20 });
      worker.task("a", () => null);
      const summary = await worker.drain({ budgetMs: 20_000, maxQueries: 1000 });
      expect(summary).toMatchObject({ claimed: 30, succeeded: 30, more: false });
      expect(summary.nextDueAtMs).toBeGreaterThan(Date.now() + 3_000_000);
      expect(await wadi.getStatus(huge.id)).toMatchObject({ status: "queued", attempt: 0 });
      const lanes = [{ queue: "default", name: "a", quota: 20 }];
      const claimed = await storeOf(wadi).claim({
        ...{ pools: [{ lanes, limit: 20 }], workerId: "w:1", leaseMs: 1000, limited: false },
        sizes: { measures: true, bytes: 0, pausedUntilMs: 0 },
      });
      expect(claimed).toMatchObject({ tasks: [], skippedLarge: false });
      expect(claimed.oversized).toMatchObject([{ id: huge.id, name: "a", queue: "default" }]);
      expect(claimed.oversized[0]!.bytes).toBeGreaterThan(taskBytesPerResponse(max)!);
    }),
);

test("no sizes are measured while nothing large is due", () =>
  open("d1", async ({ executor, meter }) => {
    const wadi = new Wadi(executor);
    await wadi.submitMany("a", Array(50).fill({ payload: 1 }));
    const worker = new Worker(wadi, { prefetch: 20 });
    worker.task("a", () => null);
    await wadi.getStatus("none");
    const before = meter().statements;
    const { succeeded, roundTrips } = await worker.drain({ budgetMs: 20_000, maxQueries: 1000 });
    expect(succeeded).toBe(50);
    expect(meter().statements - before).toBeLessThanOrEqual(roundTrips * 6);
  }));

test(
  "list, waits and reads of many on Neon take several requests if one response is too large",
  {
    timeout: 60_000,
  },
  () =>
    open("neon-http", async ({ executor }) => {
      const wadi = new Wadi(executor);
      const ids: string[] = [];
      for (let n = 0; n < 4; n++) ids.push((await wadi.submit("a", quotes(NEON_MB))).id);
      expect((await wadi.list()).map(({ id }) => id)).toEqual([...ids].reverse());
      const worker = new Worker(wadi);
      worker.task("a", () => null);
      const waiting = wadi.waitMany(ids, { timeoutMs: 30_000 });
      expect(await worker.drain({ budgetMs: 30_000 })).toMatchObject({ succeeded: 4 });
      expect((await waiting).map(({ id, status }) => ({ id, status }))).toEqual(
        ids.map((id) => ({ id, status: "succeeded" })),
      );
    }),
);

test("one task too large for any response is an error that names the cause", { timeout: 60_000 }, () =>
  open("neon-http", async ({ executor }) => {
    const wadi = new Wadi(executor);
    const { id } = await wadi.submit("a", 1);
    await executor.run({
      sql: "update cairnq_tasks set payload = to_jsonb(repeat('x', 11000000)) where id = $1 returning id",
      params: [id],
    });
    for (const read of [() => wadi.get(id), () => wadi.list(), () => storeOf(wadi).getMany([id])])
      await expect(read()).rejects.toMatchObject({
        code: "DRIVER_ERROR",
        kind: "response-too-large",
        retryable: false,
      });
  }),
);
