// The examples of transactional submits commit tasks with rows.

import { neon } from "@neondatabase/serverless";
import pg from "pg";
import { expect, test } from "vitest";
import { d1 } from "../../src/drivers/d1.ts";
import { neonHttp } from "../../src/drivers/neon.ts";
import { pg as pgExecutor } from "../../src/drivers/pg.ts";
import { Wadi } from "../../src/index.ts";
import { openD1 } from "../../testing/d1.ts";
import { examplesOf, load } from "../../testing/doc-examples.ts";
import { startNeonEndpoint } from "../../testing/neon-endpoint.ts";
import { createDatabase } from "../../testing/postgres.ts";

/** `order(client, id)` of the example that imports this driver. */
async function orderOf(driver: string): Promise<(client: unknown, id: string) => Promise<unknown>> {
  const example = examplesOf("docs/transactions.md").find(({ code }) =>
    code.includes(`from "wadi/${driver}"`),
  )!;
  return (await load(example)).order as never;
}

const CREATE = "create table orders (id text primary key, task text)";

/** One order is committed, and one that repeats it is rolled back. */
async function expectOrders(wadi: Wadi, order: (id: string) => Promise<unknown>): Promise<void> {
  await wadi.executor.run({ sql: CREATE, params: [] });
  await order("o1");
  await expect(order("o1")).rejects.toThrow();
  await order("o2");
  const orders = await wadi.executor.run({ sql: "select id, task from orders order by id", params: [] });
  const tasks = (await wadi.list()).reverse();
  expect(tasks.map(({ payload }) => payload)).toEqual([{ order: "o1" }, { order: "o2" }]);
  expect(orders).toEqual([
    { id: "o1", task: tasks[0]!.id },
    { id: "o2", task: tasks[1]!.id },
  ]);
}

test("the example for D1 commits orders with their tasks", async () => {
  const { binding, close } = await openD1();
  const order = await orderOf("d1");
  await expectOrders(new Wadi(d1(binding)), (id) => order({ DB: binding }, id));
  close();
});

test("the example for Neon commits orders with their tasks", async () => {
  const endpoint = await startNeonEndpoint({ postgresUrl: await createDatabase() });
  const sql = neon(endpoint.connectionString);
  const order = await orderOf("neon");
  await expectOrders(new Wadi(neonHttp(sql)), (id) => order(sql, id));
  await endpoint.stop();
});

test("the example for node-pg commits orders with their tasks", async () => {
  const pool = new pg.Pool({ connectionString: await createDatabase(), max: 2 });
  const order = await orderOf("pg");
  const wadi = new Wadi(pgExecutor(pool, { listen: false }));
  await wadi.migrate();
  await expectOrders(wadi, (id) => order(pool, id));
  await pool.end();
});
