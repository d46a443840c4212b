import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { Executor } from "../../../src/driver.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { until } from "../../../testing/until.ts";

/** A client that notes the SQL of each request. */
function notingWadi() {
  const executor = betterSqlite3(new Database(":memory:"));
  const requests: string[] = [];
  const note = (...sql: string[]) => requests.push(sql.join("\n"));
  const noting: Executor = {
    ...executor,
    run(statement) {
      note(statement.sql);
      return executor.run(statement);
    },
    batch(statements) {
      note(...statements.map(({ sql }) => sql));
      return executor.batch(statements);
    },
  };
  const { statements } = executor.protocol;
  const has = (request: string, name: keyof typeof statements) => request.includes(statements[name]!.sql);
  const tell = (request: string) =>
    [has(request, "settle_tasks") && "settle", has(request, "select_next_due") && "look"]
      .filter(Boolean)
      .join("+");
  return { wadi: new Wadi(noting), told: () => requests.map(tell).filter((what) => what !== ""), requests };
}

test("a worker that found all there was tells who waits before it looks again, and then does", async () => {
  const { wadi, told, requests } = notingWadi();
  const worker = new Worker(wadi).task("a", ({ payload }) => payload);
  const ended = worker.run();
  await until(() => told().length > 0);
  requests.length = 0;
  expect(await wadi.call("a", 5)).toBe(5);
  expect(told()).toEqual(["look", "settle"]);
  await until(() => told().length > 2);
  expect(told()).toEqual(["look", "settle", "look"]);
  await worker.stop();
  await ended;
});

test("a claim that took all it asked for is followed by one that goes with the settlement", async () => {
  const { wadi, told, requests } = notingWadi();
  await wadi.submitMany("a", [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
  const worker = new Worker(wadi, { concurrency: 2 }).task("a", ({ payload }) => payload);
  requests.length = 0;
  const ended = worker.run();
  await until(() => told().length > 3);
  expect(told()).toEqual(["look", "settle+look", "settle", "look"]);
  await worker.stop();
  await ended;
});

test("so is one that left tasks waiting for a limit, which the settlement makes room for", async () => {
  const { wadi, told, requests } = notingWadi();
  const entry = { payload: 1, limits: { key: "k", concurrency: 1 } };
  await wadi.submitMany("a", [entry, entry, entry]);
  const worker = new Worker(wadi).task("a", ({ payload }) => payload);
  await worker.drain({ maxTasks: 1 });
  requests.length = 0;
  const ended = worker.run();
  await until(() => told().length > 3);
  expect(told()).toEqual(["look", "settle+look", "settle", "look"]);
  await worker.stop();
  await ended;
});
