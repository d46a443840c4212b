// Submits in transactions and batches of Drizzle.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { TransactionClient, Wadi } from "../../src/index.ts";
import { OWN, withOrders } from "./application-tables.ts";
import { type AnyDrizzle, cases, type OpenDrizzle } from "./databases.ts";

/** The rows of an application and Wadi's tasks, committed together through Drizzle. */
describe.each(cases)("own rows on $name", ({ dialect, transactions, batches, open }) => {
  const { tasks, orders } = OWN[dialect];
  let database: OpenDrizzle;
  let wadi: Wadi<unknown, boolean>;

  const there = async () => ({
    orders: (await database.db.select().from(orders)).map(({ id }) => id).sort(),
    tasks: (await database.db.select().from(tasks)).map(({ payload }) => payload).sort(),
  });

  beforeAll(async () => {
    database = await open();
    wadi = await withOrders(database);
  }, 60_000);
  afterAll(() => database?.close());
  beforeEach(async () => {
    for (const table of ["orders", "cairnq_tasks"]) {
      await database.executor.run({ sql: `delete from ${table}`, params: [] });
    }
  });

  if (transactions !== null)
    describe("wadi.with(tx)", () => {
      const place = async (id: string, end: (tx: AnyDrizzle) => void = () => {}) => {
        const { db } = database;
        if (transactions === "sync") {
          return db.transaction((tx) => {
            tx.insert(orders).values({ id }).run();
            const bound = wadi.with(tx) as TransactionClient<true>;
            expect(bound.submit("ship", id, { key: id }).outcome).toBe("created");
            expect(bound.submit("ship", id, { key: id }).outcome).toBe("reused");
            end(tx);
          });
        }
        return db.transaction(async (tx) => {
          await tx.insert(orders).values({ id });
          const bound = wadi.with(tx);
          expect((await bound.submit("ship", id, { key: id })).outcome).toBe("created");
          expect((await bound.submit("ship", id, { key: id })).outcome).toBe("reused");
          end(tx);
        });
      };

      it("commits a task with the rows of the transaction", async () => {
        await place("a");
        expect(await there()).toEqual({ orders: ["a"], tasks: ["a"] });
      });

      it("leaves no task behind where the transaction is rolled back", async () => {
        const broken = place("b", (tx) => (tx as AnyDrizzle & { rollback(): void }).rollback());
        await expect(broken).rejects.toThrow("Rollback");
        expect(await there()).toEqual({ orders: [], tasks: [] });
        await place("b");
        expect(await there()).toEqual({ orders: ["b"], tasks: ["b"] });
      });
    });

  if (transactions === null)
    it("wadi.with(tx) says what to use instead", () => {
      expect(() => wadi.with(database.db)).toThrow(expect.objectContaining({ code: "UNSUPPORTED" }));
    });

  if (batches)
    describe("wadi.statements", () => {
      it("are items of Drizzle's batch", async () => {
        const { db } = database;
        const { id, statements, read } = await wadi.statements.submit("ship", { weight: [5] }, { key: "k" });
        const results = await db.batch([db.insert(orders).values({ id: "a", taskId: id }), ...statements]);
        expect(read(results.slice(1))).toMatchObject({ id, outcome: "created", payload: { weight: [5] } });
        expect(await there()).toEqual({ orders: ["a"], tasks: [{ weight: [5] }] });

        const again = await wadi.statements.submit("ship", "other", { key: "k" });
        const reused = again.read(await db.batch(again.statements));
        expect(reused).toMatchObject({ id, outcome: "reused", payload: { weight: [5] } });
      });

      it("are statements of the client's own batch", async () => {
        const { native } = database.executor;
        const { id, statements, read } = await wadi.statements.submit("ship", { weight: [5] });
        expect(statements.every((statement) => native!.is(statement))).toBe(true);
        expect(read(await database.sendBatch!(statements))).toMatchObject({ id, payload: { weight: [5] } });
        expect(await there()).toEqual({ orders: [], tasks: [{ weight: [5] }] });
      });

      it("vanish with the batch", async () => {
        const { db } = database;
        await db.insert(orders).values({ id: "a" });
        const { statements } = await wadi.statements.submit("ship", null);
        await expect(
          Promise.resolve(db.batch([...statements, db.insert(orders).values({ id: "a" })])),
        ).rejects.toThrow();
        expect(await there()).toEqual({ orders: ["a"], tasks: [] });
      });
    });
});
