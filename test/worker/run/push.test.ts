// Postgres notifies a long-running worker.

import { expect, test } from "vitest";
import { pg } from "../../../src/drivers/pg.ts";
import { Wadi, Worker, type WorkerOptions } from "../../../src/index.ts";
import { countOperations } from "../../../testing/intercept.ts";
import { pgFixture } from "../../../testing/pg-fixture.ts";
import { endListeners } from "../../../testing/postgres-activity.ts";
import { until } from "../../../testing/until.ts";

const db = pgFixture("select 1");
const NO_POLLS: WorkerOptions = { pollMs: 3_600_000, maxPollMs: 3_600_000 };
const echo = ({ payload }: { payload: unknown }) => payload;

test("Postgres notifies a worker of submits of other clients, again after its connection was lost", async () => {
  const wadi = new Wadi(pg(db.pool()));
  const theirs = new Wadi(pg(db.pool()));
  const reported: string[] = [];
  const claims = countOperations(wadi, "settleAndClaim");
  const worker = new Worker(wadi, {
    ...NO_POLLS,
    onError: (_, { operation }) => reported.push(operation),
  }).task("a", echo);
  await worker.background(async () => {
    await until(() => worker.stats().wakeSource === "listening");
    for (const round of [1, 2]) {
      expect(await theirs.call("a", round, { timeoutMs: 20_000 })).toBe(round);
      if (round === 2) break;
      await endListeners(db.admin);
      await until(() => worker.stats().wakeSource === "polling");
      await until(() => worker.stats().wakeSource === "listening", 20_000);
    }
    expect(reported).toEqual(["listen"]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = claims.count;
    await theirs.submit("a", 3, { queue: "elsewhere" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(claims.count).toBe(before);
  });
  await wadi.close();
  await theirs.close();
});

test("Postgres does not notify when a fleet-wide limit has room again, so the worker polls for that", async () => {
  const wadi = new Wadi(pg(db.pool()));
  const theirs = new Wadi(pg(db.pool()));
  const limits = { key: "one at a time", concurrency: 1 };
  let end = () => {};
  const other = new Worker(theirs).task(
    "theirs",
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  const worker = new Worker(wadi, { pollMs: 10, maxPollMs: 20 }).task("ours", echo);
  await other.background(async () => {
    await theirs.submit("theirs", null, { limits });
    await until(() => other.stats().running === 1);
    await worker.background(async () => {
      await until(() => worker.stats().wakeSource === "listening");
      const { id } = await wadi.submit("ours", 1, { limits });
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await wadi.get(id)).toMatchObject({ status: "queued" });
      end();
      expect(await wadi.wait(id, { timeoutMs: 20_000 })).toMatchObject({ result: 1 });
    });
  });
  await wadi.close();
  await theirs.close();
});

test("where it cannot listen it polls, and says so", async () => {
  const executor = pg(db.pool());
  const reported: string[] = [];
  executor.listen = () => Promise.reject(new Error("no LISTEN in transaction mode"));
  const wadi = new Wadi(executor);
  const theirs = new Wadi(pg(db.pool()));
  const worker = new Worker(wadi, {
    pollMs: 10,
    maxPollMs: 20,
    onError: (error) => reported.push((error as Error).message),
  }).task("a", echo);
  await worker.background(async () => {
    expect(await theirs.call("a", 1, { timeoutMs: 20_000 })).toBe(1);
    expect(worker.stats()).toMatchObject({ wakeSource: "polling", lastError: { operation: "listen" } });
  });
  expect(reported[0]).toBe("no LISTEN in transaction mode");
  await theirs.close();
});
