// Sweeps and statistics of a long-running worker.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { monotonicMs } from "../../../src/core/monotonic-clock.ts";
import type { Executor } from "../../../src/driver.ts";
import { Wadi } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { checkRetention } from "../../../src/producer/tasks/retention-rules.ts";
import { sweepAfterDrain } from "../../../src/worker/run/sweep-after-drain.ts";
import { TableMaintenance } from "../../../src/worker/run/table-maintenance.ts";
import { interceptOperations } from "../../../testing/intercept.ts";
import { memoryWadi } from "../../../testing/memory.ts";

const retention = checkRetention([{ status: "canceled", olderThanMs: 0 }]);
const sweepMs = 60_000;
let reports: string[] = [];
const report = (error: unknown, operation: string) => {
  reports.push(`${operation}: ${(error as Error).message}`);
};

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  reports = [];
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A client with so many ended tasks, and the sizes of its sweeps. */
async function ended(tasks: number): Promise<{ wadi: Wadi; sweeps: number[] }> {
  const wadi = memoryWadi();
  const entries = Array.from({ length: tasks }, () => ({ payload: null }));
  await wadi.submitMany("a", entries);
  await wadi.executor.run({
    sql: "update cairnq_tasks set status = 'canceled', completed_at_ms = 1 returning id",
    params: [],
  });
  const sweeps: number[] = [];
  interceptOperations(wadi, "sweep", async (send) => {
    const swept = await send();
    sweeps.push(swept.purged);
    return swept;
  });
  return { wadi, sweeps };
}

function failNextSweep(wadi: Wadi): void {
  const remove = interceptOperations(wadi, "sweep", async () => {
    remove();
    throw new Error("away");
  });
}

test("sweeps once each period, and in batches one after the other while there is more", async () => {
  const { wadi, sweeps } = await ended(1100);
  const maintenance = new TableMaintenance({ wadi: internalsOf(wadi), retention, sweepMs, report });
  maintenance.start();
  await vi.advanceTimersByTimeAsync(29_999);
  expect(sweeps).toEqual([]);
  await vi.advanceTimersByTimeAsync(1001);
  expect(sweeps).toEqual([500, 500, 100]);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(sweeps).toEqual([500, 500, 100, 0, 0]);
  await maintenance.stop();
  expect(vi.getTimerCount()).toBe(0);
  expect(reports).toEqual([]);
});

test("a sweep that fails is reported, and tried again when it is next due", async () => {
  const { wadi, sweeps } = await ended(3);
  failNextSweep(wadi);
  const maintenance = new TableMaintenance({ wadi: internalsOf(wadi), retention, sweepMs, report });
  maintenance.start();
  await vi.advanceTimersByTimeAsync(90_000);
  expect([reports, sweeps]).toEqual([["sweep: away"], [3]]);
  await maintenance.stop();
});

test("updates the statistics each hour and at the end, and sweeps nothing without rules", async () => {
  const { wadi, sweeps } = await ended(1);
  let optimized = 0;
  const optimize = async () => {
    optimized++;
    if (optimized === 1) throw new Error("locked");
  };
  const executor: Executor = { ...wadi.executor, optimize };
  const maintenance = new TableMaintenance({
    wadi: internalsOf(new Wadi(executor)),
    retention: [],
    sweepMs,
    report,
  });
  maintenance.start();
  await vi.advanceTimersByTimeAsync(2 * 3_600_000);
  expect(optimized).toBe(2);
  await maintenance.stop();
  expect([optimized, reports, sweeps]).toEqual([3, ["optimize: locked"], []]);
});

test("a stop waits for the sweep in progress, and no other follows", async () => {
  const { wadi } = await ended(1);
  let finish = () => {};
  const swept = new Promise<void>((resolve) => {
    finish = resolve;
  });
  interceptOperations(wadi, "sweep", () => swept.then(() => ({ purged: 500, more: true })));
  const maintenance = new TableMaintenance({ wadi: internalsOf(wadi), retention, sweepMs, report });
  maintenance.start();
  await vi.advanceTimersByTimeAsync(30_000);
  let stopped = false;
  const stop = maintenance.stop().then(() => {
    stopped = true;
  });
  await vi.advanceTimersByTimeAsync(900);
  expect(stopped).toBe(false);
  finish();
  await stop;
  expect(vi.getTimerCount()).toBe(0);
});

test("a short drain sweeps with a second left, at most once a minute, and recovers from a failure", async () => {
  const { wadi, sweeps } = await ended(2);
  const plan = { wadi: internalsOf(wadi), retention, report };
  const left = (ms: number) => monotonicMs() + ms;
  vi.advanceTimersByTime(3_600_000); // other tests of this process
  expect(await sweepAfterDrain(plan, left(999))).toBe(false);
  expect(await sweepAfterDrain({ ...plan, retention: [] }, left(1000))).toBe(false);
  expect(await sweepAfterDrain(plan, left(1000))).toBe(true);
  expect(sweeps).toEqual([2]);
  vi.advanceTimersByTime(59_999);
  expect(await sweepAfterDrain(plan, left(5000))).toBe(false);
  vi.advanceTimersByTime(1);
  failNextSweep(wadi);
  expect(await sweepAfterDrain(plan, left(5000))).toBe(true);
  expect(reports).toEqual(["sweep: away"]);
});

test("databases that are drained in turn are swept in turn", async () => {
  vi.advanceTimersByTime(24 * 3_600_000); // other tests of this process
  const [first, second] = [await ended(1), await ended(1)];
  for (let minute = 0; minute < 3; minute++) {
    for (const { wadi } of [first, second]) {
      await sweepAfterDrain({ wadi: internalsOf(wadi), retention, report }, monotonicMs() + 5000);
    }
    vi.advanceTimersByTime(60_000);
  }
  expect([first.sweeps, second.sweeps]).toEqual([
    [1, 0, 0],
    [1, 0],
  ]);
});
