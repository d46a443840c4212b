// The executor of a Drizzle database.

import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Task, type Wadi, Worker } from "../../src/index.ts";
import { OWN, withOrders } from "./application-tables.ts";
import { type AnyDrizzle, cases, type OpenDrizzle } from "./databases.ts";

describe.each(cases)("fromDrizzle on $name", ({ dialect, driver, transactions, open }) => {
  const { tasks, orders } = OWN[dialect];
  let database: OpenDrizzle;
  let wadi: Wadi;

  const statement = (id: string) => ({
    sql: `insert into orders (id) values (${dialect === "sqlite" ? "?" : "$1"}) returning id`,
    params: [id],
  });
  const orderIds = async () => (await database.db.select().from(orders)).map(({ id }) => id).sort();

  beforeAll(async () => {
    database = await open();
    wadi = await withOrders(database);
  }, 60_000);
  afterAll(() => database?.close());

  it("is the executor of its client", () => {
    expect([database.executor.name, database.executor.dialect]).toEqual([driver, dialect]);
  });

  it("runs tasks, and Drizzle reads them as they are", async () => {
    const payloads = [{ a: [1, null] }, "5", '{"b":1}', null, 7, [], true];
    for (const payload of payloads) {
      await wadi.submit("echo", payload, { metadata: { kind: "test" } });
    }
    await new Worker(wadi).task("echo", ({ payload }) => payload as null).drain();
    const rows = (await database.db.select().from(tasks)) as unknown as Task[];
    expect(rows).toHaveLength(payloads.length);
    for (const row of rows) {
      expect(row).toMatchObject({ ...(await wadi.get(row.id)) });
      expect(row.result).toEqual(row.payload);
    }
    expect(rows.map(({ payload }) => payload)).toEqual(expect.arrayContaining(payloads));
  });

  it("joins the tasks with the application's own table", async () => {
    const { id } = await wadi.submit("ship", { weight: 5 });
    await database.db.insert(orders).values({ id: "joined", taskId: id });
    const query = database.db
      .select()
      .from(orders)
      .innerJoin(tasks, eq(orders.taskId as never, tasks.id));
    expect(await query).toMatchObject([
      { orders: { id: "joined" }, cairnq_tasks: { payload: { weight: 5 } } },
    ]);
  });

  if (transactions !== null)
    describe("within a transaction of Drizzle", () => {
      const send = (tx: unknown, ids: string[]) => database.executor.within!(tx)!.batch(ids.map(statement));
      /** Runs both in one transaction, which `end` ends or breaks. */
      const transact = async (ids: string[], work: (tx: AnyDrizzle) => void) => {
        const { db } = database;
        if (transactions === "sync") {
          return db.transaction((tx) => {
            tx.insert(orders)
              .values({ id: `own-${ids[0]}` })
              .run();
            expect(send(tx, ids)).toEqual(ids.map((id) => [{ id }]));
            work(tx);
          });
        }
        return db.transaction(async (tx) => {
          await tx.insert(orders).values({ id: `own-${ids[0]}` });
          expect(await send(tx, ids)).toEqual(ids.map((id) => [{ id }]));
          work(tx);
        });
      };

      it("commits with it", async () => {
        await transact(["a", "b"], () => {});
        expect(await orderIds()).toEqual(expect.arrayContaining(["a", "b", "own-a"]));
      });

      it("vanishes with it", async () => {
        const broken = transact(["c", "d"], () => {
          throw new Error("no");
        });
        await expect(broken).rejects.toThrow("no");
        expect((await orderIds()).filter((id) => /^(own-)?[cd]$/.test(String(id)))).toEqual([]);
      });

      it("takes part in a nested one", async () => {
        const { db } = database;
        if (transactions === "sync") {
          db.transaction((tx) => tx.transaction((inner) => send(inner, ["nested"])));
        } else {
          await db.transaction((tx) => tx.transaction((inner) => send(inner, ["nested"])));
        }
        expect(await orderIds()).toContain("nested");
      });
    });

  it("takes nothing else for a transaction", () => {
    for (const other of [database.db, null, undefined, "tx", {}, { session: {}, nestedIndex: 0 }]) {
      expect(database.executor.within?.(other) ?? null).toBeNull();
    }
  });
});
