// Queries of Drizzle that are committed with a settlement.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Wadi, Worker } from "../../src/index.ts";
import { OWN, withOrders } from "./application-tables.ts";
import { cases, type OpenDrizzle } from "./databases.ts";

describe.each(cases)("ctx.succeedWith on $name", ({ dialect, open }) => {
  const { orders } = OWN[dialect];
  let database: OpenDrizzle;
  let wadi: Wadi;

  const orderIds = async () => (await database.db.select().from(orders)).map(({ id }) => id);

  beforeAll(async () => {
    database = await open();
    wadi = await withOrders(database);
  }, 60_000);
  afterAll(() => database?.close());
  beforeEach(async () => {
    await database.executor.run({ sql: "delete from orders", params: [] });
  });

  it("takes queries of Drizzle", async () => {
    await wadi.submit("ship", 1);
    const worker = new Worker(wadi).task("ship", (ctx) =>
      ctx.succeedWith([database.db.insert(orders).values({ id: "a", taskId: ctx.id })], { done: true }),
    );
    expect(await worker.drain()).toMatchObject({ succeeded: 1 });
    expect(await orderIds()).toEqual(["a"]);
  });

  it("commits none of them if the lease is lost", async () => {
    const { id } = await wadi.submit("ship", 1);
    const worker = new Worker(wadi).task("ship", async (ctx) => {
      const expired = "update cairnq_tasks set lease_until_ms = 1, worker_id = 'other'";
      await database.executor.run({ sql: expired, params: [] });
      return ctx.succeedWith([database.db.insert(orders).values({ id: "b" })]);
    });
    expect(await worker.drain({ maxTasks: 1 })).toMatchObject({ succeeded: 0 });
    expect(await orderIds()).toEqual([]);
    expect((await wadi.get(id))?.status).not.toBe("succeeded");
  });
});
