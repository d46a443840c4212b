// Drains during an outage of the database.

import Database from "better-sqlite3";
import { describe, expect, test, vi } from "vitest";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { type TaskContext, Wadi, Worker, type WorkerOptions } from "../../../src/index.ts";
import { type Loss, lossy } from "../../../testing/lossy-executor.ts";
import { readMoves, startAudit } from "../../../testing/races/audit.ts";
import { until } from "../../../testing/until.ts";

const QUICK = { requestRetry: { tries: 1 } };
const POLLS: WorkerOptions = { pollMs: 5, maxPollMs: 10 };

/** A Wadi whose worker loses what `state.next` says, and one on the same database that loses nothing. */
async function lossyWadi() {
  const inner = betterSqlite3(new Database(":memory:"));
  const state = { next: (_request: number): Loss => null };
  const executor = lossy(inner, (request) => state.next(request));
  const reader = new Wadi(inner);
  await reader.migrate();
  await startAudit(reader);
  return { state, executor, reader, wadi: new Wadi(executor, QUICK) };
}

const untilAborted = ({ signal }: Pick<TaskContext, "signal">) =>
  new Promise<string>((resolve) =>
    signal.addEventListener("abort", () => resolve(String(signal.reason?.name))),
  );

describe("a long-running worker", () => {
  test("settles and claims each task once although every other answer is lost", async () => {
    const { state, wadi, reader } = await lossyWadi();
    const ids = (
      await reader.submitMany(
        "a",
        Array.from({ length: 60 }, (_, payload) => ({ payload })),
      )
    ).map(({ id }) => id);
    const runs: string[] = [];
    const errors: string[] = [];
    state.next = (request) => (request % 2 === 0 ? "after" : null);
    const worker = new Worker(wadi, {
      ...POLLS,
      concurrency: 7,
      prefetch: 9,
      onError: (_, { operation }) => errors.push(operation),
    }).task("a", ({ id }) => void runs.push(id));
    const running = worker.run();
    await until(async () => (await reader.stats()).default!.succeeded === 60, 60_000);
    state.next = () => null;
    await worker.stop();
    expect(await running).toMatchObject({ claimed: 60, succeeded: 60, lost: 0, recovered: 0 });
    expect(errors.length).toBeGreaterThan(3);
    expect(runs.sort()).toEqual(ids.sort());
    expect(await readMoves(reader)).toHaveLength(120);
  });

  test("goes on running handlers while the database is away, and settles them when it is back", async () => {
    const { state, wadi, reader } = await lossyWadi();
    await reader.submitMany("a", [{ payload: 1 }, { payload: 2 }]);
    let end = () => {};
    const worker = new Worker(wadi, POLLS).task(
      "a",
      ({ payload }) => new Promise((resolve) => (end = () => resolve(payload))),
      { concurrency: 1 },
    );
    const running = worker.run();
    await until(() => worker.stats().running === 1);
    state.next = () => "before";
    end();
    await until(() => worker.stats().lastError !== null);
    expect(worker.stats()).toMatchObject({ state: "running", lastError: { operation: "settleAndClaim" } });
    state.next = () => null;
    await until(async () => (await reader.stats()).default!.succeeded === 1);
    await until(() => worker.stats().running === 1);
    end();
    await worker.stop();
    expect(await running).toMatchObject({ succeeded: 2, lost: 0 });
  });

  test("notifies handlers that their leases are lost once they may have expired", async () => {
    const { state, wadi, reader } = await lossyWadi();
    await reader.submit("a", null);
    const seen: unknown[] = [];
    const worker = new Worker(wadi, { ...POLLS, leaseMs: 300 }).task("a", async (context) => {
      if (context.attempt > 1) return "again";
      state.next = () => "before";
      seen.push(context.lostLease, await untilAborted(context), context.lostLease);
      state.next = () => null;
      return "late";
    });
    const running = worker.run();
    await until(async () => (await reader.stats()).default!.succeeded === 1);
    await worker.stop();
    expect(await running).toMatchObject({ claimed: 2, lost: 1, recovered: 1, succeeded: 1 });
    expect(seen).toEqual([false, "LostLease", true]);
    expect((await reader.list())[0]).toMatchObject({ result: "again", attempt: 2 });
  });

  test("renews leases while handlers run, and notices a requested cancel", async () => {
    const { wadi, reader } = await lossyWadi();
    const { id } = await reader.submit("a", null);
    const worker = new Worker(wadi, { ...POLLS, leaseMs: 150 }).task("a", untilAborted);
    const running = worker.run();
    await until(() => worker.stats().running === 1);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(worker.stats()).toMatchObject({ running: 1, totals: { lost: 0 } });
    await reader.cancel(id);
    await until(async () => (await reader.get(id))?.status === "canceled");
    await worker.stop();
    expect(await running).toMatchObject({ canceled: 1, lost: 0, recovered: 0 });
  });

  test("keeps its leases although its clock is set back by an hour", async () => {
    const { wadi, reader } = await lossyWadi();
    await reader.submitMany("a", [{ payload: 1 }, { payload: 2 }]);
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    const options = { ...POLLS, concurrency: 1, prefetch: 1, leaseMs: 300 };
    const worker = new Worker(wadi, options).task("a", () => over);
    const running = worker.run();
    await until(() => worker.stats().running === 1);
    const now = Date.now;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now() - 3_600_000);
    try {
      await new Promise((resolve) => setTimeout(resolve, 900));
      await new Worker(reader).task("b", () => null).drain(); // would recover what is lost
      end();
      await until(async () => (await reader.stats()).default!.succeeded === 2);
    } finally {
      clock.mockRestore();
    }
    await worker.stop();
    expect(await running).toMatchObject({ claimed: 2, succeeded: 2, lost: 0 });
  });

  test("ends its stop although the database is away, and reports errors", async () => {
    const { state, wadi, reader } = await lossyWadi();
    await reader.submit("a", null);
    const errors: unknown[] = [];
    const worker = new Worker(wadi, { ...POLLS, onError: (error) => errors.push(error) }).task("a", () => {
      state.next = () => "before";
    });
    const running = worker.run();
    await until(() => errors.length > 0);
    await worker.stop({ graceMs: 0 });
    expect(await running).toMatchObject({ claimed: 1, succeeded: 0 });
    expect((await reader.list())[0]?.status).toBe("running");
  });
});

test("a short drain fails with its database", async () => {
  const { state, wadi, reader } = await lossyWadi();
  await reader.submit("a", null);
  let lost: unknown;
  const worker = new Worker(wadi).task("a", async (context) => {
    state.next = () => "before";
    context.heartbeat().catch(() => {});
    context.succeed(1);
    lost = context.lostLease;
  });
  await expect(worker.drain()).rejects.toMatchObject({ name: "DriverError", retryable: true });
  expect(lost).toBe(false);
});
