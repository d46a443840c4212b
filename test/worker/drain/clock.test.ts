// Drains on a machine whose clock is set.

import Database from "better-sqlite3";
import { afterEach, expect, test, vi } from "vitest";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { type Loss, lossy } from "../../../testing/lossy-executor.ts";
import { until } from "../../../testing/until.ts";

const HOUR_MS = 3_600_000;

afterEach(() => vi.restoreAllMocks());

/** Sets the clock of this process, and not that of the database, by so many milliseconds. */
function setClock(byMs: number): void {
  vi.restoreAllMocks();
  const now = Date.now;
  vi.spyOn(Date, "now").mockImplementation(() => now() + byMs);
}

test("a worker whose clock is set back right after a failed request goes on without delay", async () => {
  const inner = betterSqlite3(new Database(":memory:"));
  let lose: Loss = null;
  const executor = lossy(inner, () => lose);
  const reader = new Wadi(inner);
  const { id } = await reader.submit("a", null);
  const errors: unknown[] = [];
  const worker = new Worker(new Wadi(executor, { requestRetry: { tries: 1 } }), {
    pollMs: 10,
    leaseMs: 5000,
    onError: (error) => errors.push(error),
  }).task("a", () => {
    lose = "before";
  });
  const running = worker.run();
  await until(() => errors.length > 0);
  setClock(-HOUR_MS);
  lose = null;
  await until(async () => (await reader.get(id))?.status === "succeeded");
  await worker.stop();
  expect(await running).toMatchObject({ claimed: 1, succeeded: 1, lost: 0 });
});

test("a drain ends in its time if its clock is set back, and not sooner if it is set forward", async () => {
  const wadi = new Wadi(betterSqlite3(new Database(":memory:")));
  await wadi.submit("never", null);
  const startMs = performance.now();
  const worker = new Worker(wadi)
    .task("never", () => {
      setClock(-HOUR_MS);
      return new Promise(() => {});
    })
    .task("short", async ({ remainingMs }) => {
      setClock(HOUR_MS);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return remainingMs() > 1000;
    });
  expect(await worker.drain({ budgetMs: 400 })).toMatchObject({ claimed: 1, retried: 1 });
  expect(performance.now() - startMs).toBeLessThan(HOUR_MS / 10);
  vi.restoreAllMocks();
  const { id } = await wadi.submit("short", null);
  expect(await worker.drain({ budgetMs: 20_000 })).toMatchObject({ succeeded: 1 });
  expect((await wadi.get(id))?.result).toBe(true);
});
