// A long-running worker during an outage of the database.

import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { Executor } from "../../../src/driver.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { until } from "../../../testing/until.ts";
import { idleRun, NO_POLLS } from "./idle-run.ts";

describe("a database outage", () => {
  function fragile() {
    const inner = betterSqlite3(new Database(":memory:"));
    const state = { isAway: false, code: "SQLITE_CANTOPEN" };
    const send =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A) => {
        if (!state.isAway) return call(...args);
        throw Object.assign(new Error("away"), { code: state.code });
      };
    const executor: Executor = { ...inner, run: send(inner.run), batch: send(inner.batch) };
    const wadi = new Wadi(executor, { requestRetry: { tries: 1 } });
    return { wadi, state };
  }

  test("is reported, and outcomes of handlers are kept and settled once it answers again", async () => {
    const { wadi, state } = fragile();
    const reported: string[] = [];
    let release: (value: unknown) => void = () => {};
    const worker = new Worker(wadi, {
      ...NO_POLLS,
      onError: (error, { operation }) => reported.push(`${operation}: ${(error as Error).name}`),
    }).task("a", () => new Promise((resolve) => (release = resolve)));
    await worker.background(async () => {
      const task = await wadi.submit("a", null);
      await until(() => worker.stats().running === 1);
      state.isAway = true;
      release("kept");
      await until(() => reported.length > 1);
      expect(new Set(reported)).toEqual(new Set(["settleAndClaim: DriverError"]));
      expect(worker.stats().lastError).toMatchObject({
        operation: "settleAndClaim",
        error: { retryable: true },
      });
      state.isAway = false;
      expect(await wadi.wait(task, { timeoutMs: 20_000 })).toMatchObject({ result: "kept", attempt: 1 });
    });
  });

  test("ends a run only if the very first round trip is refused", async () => {
    const { wadi, state } = fragile();
    await wadi.stats();
    state.code = "SQLITE_CORRUPT";
    state.isAway = true;
    const worker = new Worker(wadi, NO_POLLS).task("a", () => 1);
    await expect(worker.run()).rejects.toMatchObject({ name: "DriverError", retryable: false });
    expect(worker.stats().state).toBe("stopped");
    state.isAway = false;
    const { running, seen } = await idleRun(worker);
    state.isAway = true;
    const before = seen.count;
    internalsOf(wadi).notifier.queued(null);
    await until(() => seen.count > before + 1);
    state.isAway = false;
    expect(await wadi.call("a", null)).toBe(1);
    await worker.stop();
    await running;
  });

  test("does not keep a worker from stopping", async () => {
    const { wadi, state } = fragile();
    const worker = new Worker(wadi, NO_POLLS).task("a", () => 1);
    const { running } = await idleRun(worker);
    state.isAway = true;
    internalsOf(wadi).notifier.queued(null);
    await until(() => worker.stats().lastError !== null);
    await worker.stop({ graceMs: 3_600_000 });
    await running;
    expect(worker.stats()).toMatchObject({ state: "stopped", running: 0 });
  });
});
