// A worker stops in time although the database does not answer.

import Database from "better-sqlite3";
import { afterEach, describe, expect, test } from "vitest";
import type { Executor } from "../../../src/driver.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { pg } from "../../../src/drivers/pg.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { pgFixture } from "../../../testing/pg-fixture.ts";
import { until } from "../../../testing/until.ts";

const db = pgFixture("select 1");

afterEach(() => {
  db.proxy.isSilent = false;
  db.proxy.cut(); // a pool does not end while its connections owe it an answer
});

/** Stops with a grace of a second, and returns how long that took. */
async function stop(worker: Worker): Promise<number> {
  const sinceMs = performance.now();
  await worker.stop({ graceMs: 1000 });
  return performance.now() - sinceMs;
}

/** The grace and two seconds, and what a busy machine takes. */
const LIMIT_MS = 3000 + 1500;

describe("stop({ graceMs: 1000 }) ends within the grace and two seconds on a Postgres that does not answer", () => {
  test.each<[string, (stopping: AbortSignal) => Promise<void>]>([
    [
      "while a handler that heeds its signal runs",
      (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    ],
    ["while a handler that does not runs", () => new Promise((resolve) => setTimeout(resolve, 20_000))],
    ["while a settlement is on its way", async () => {}],
  ])("%s", async (what, work) => {
    const wadi = new Wadi(pg(db.pool()));
    let begun = 0;
    const worker = new Worker(wadi, { onError: () => {} }).task(what, async ({ signal }) => {
      begun++;
      if (begun === 3) {
        db.proxy.silence();
        db.proxy.isSilent = true;
      }
      await work(signal);
    });
    await wadi.submitMany(what, [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    const run = worker.run();
    await until(() => begun === 3);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await stop(worker)).toBeLessThan(LIMIT_MS);
    await run;
  });

  test("while nothing is due and a sweep is on its way", async () => {
    const wadi = new Wadi(pg(db.pool()));
    await wadi.migrate();
    const options = { onError: () => {}, retention: [{ olderThanMs: 0 }], sweepMs: 1000, pollMs: 50 };
    const worker = new Worker(wadi, options).task("a", () => {});
    const run = worker.run();
    await until(() => worker.stats().totals.roundTrips > 0);
    db.proxy.silence();
    db.proxy.isSilent = true;
    await new Promise((resolve) => setTimeout(resolve, 1300));
    expect(await stop(worker)).toBeLessThan(LIMIT_MS);
    await run;
  });
});

test("the same on a database in this process, and no timer is left", async () => {
  const inner = betterSqlite3(new Database(":memory:"));
  const state = { isSilent: false };
  const answer =
    <A extends unknown[], R>(send: (...args: A) => Promise<R>) =>
    (...args: A) =>
      state.isSilent ? new Promise<R>(() => {}) : send(...args);
  const executor: Executor = {
    ...inner,
    run: answer(inner.run),
    batch: answer(inner.batch),
    optimize: answer(inner.optimize!),
  };
  const wadi = new Wadi(executor);
  await wadi.submit("a", 1);
  const worker = new Worker(wadi, { onError: () => {} }).task("a", () => {
    state.isSilent = true;
  });
  const run = worker.run();
  await until(() => state.isSilent);
  expect(await stop(worker)).toBeLessThan(LIMIT_MS);
  expect(await run).toMatchObject({ claimed: 1 });
});
