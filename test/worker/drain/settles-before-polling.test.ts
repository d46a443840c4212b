// When a settlement is sent alone, and when it claims too.

import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { beforeRequests } from "../../../testing/before-requests.ts";
import { until } from "../../../testing/until.ts";

/** A client that notes the SQL of each request. */
function notingWadi() {
  const executor = betterSqlite3(new Database(":memory:"));
  const requests: string[] = [];
  const noting = beforeRequests(executor, (sent) => {
    requests.push(sent.map(({ sql }) => sql).join("\n"));
  });
  const { statements } = executor.protocol;
  const has = (request: string, name: keyof typeof statements) => request.includes(statements[name]!.sql);
  const label = (request: string) =>
    [has(request, "settle_tasks") && "settle", has(request, "select_next_due") && "poll"]
      .filter(Boolean)
      .join("+");
  return { wadi: new Wadi(noting), sent: () => requests.map(label).filter((each) => each !== ""), requests };
}

test("a worker that has claimed all due tasks settles them before it polls again", async () => {
  const { wadi, sent, requests } = notingWadi();
  const worker = new Worker(wadi).task("a", ({ payload }) => payload);
  const ended = worker.run();
  await until(() => sent().length > 0);
  requests.length = 0;
  expect(await wadi.call("a", 5)).toBe(5);
  expect(sent()).toEqual(["poll", "settle"]);
  await until(() => sent().length > 2);
  expect(sent()).toEqual(["poll", "settle", "poll"]);
  await worker.stop();
  await ended;
});

/** Runs the worker until its queue is empty: its first settlement must claim too. */
async function expectClaimWithSettlement(worker: Worker, { sent, requests }: ReturnType<typeof notingWadi>) {
  requests.length = 0;
  const ended = worker.run();
  await until(() => sent().length > 3);
  expect(sent()).toEqual(["poll", "settle+poll", "settle", "poll"]);
  await worker.stop();
  await ended;
}

test("after a claim that brought all it asked for, the settlement claims too", async () => {
  const client = notingWadi();
  const { wadi } = client;
  await wadi.submitMany("a", [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
  const worker = new Worker(wadi, { concurrency: 2 }).task("a", ({ payload }) => payload);
  await expectClaimWithSettlement(worker, client);
});

test("after a claim that left tasks waiting for a limit, the settlement claims too, since it makes room", async () => {
  const client = notingWadi();
  const { wadi } = client;
  const entry = { payload: 1, limits: { key: "k", concurrency: 1 } };
  await wadi.submitMany("a", [entry, entry, entry]);
  const worker = new Worker(wadi).task("a", ({ payload }) => payload);
  await worker.drain({ maxTasks: 1 });
  await expectClaimWithSettlement(worker, client);
});
