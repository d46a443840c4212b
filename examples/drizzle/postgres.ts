// An order and the task that ships it, in one transaction of Drizzle on Postgres. Ends with what is in the tables.
// By hand: node examples/drizzle/postgres.ts postgres://localhost/app
import { eq, sql, TransactionRollbackError } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { pgTable, text } from "drizzle-orm/pg-core";
import { Pool } from "pg";
// An application imports these from "wadi/drizzle/postgres" and from "wadi".
import { fromDrizzle, tasks } from "../../src/drizzle/postgres.ts";
import { defineTask, Wadi, Worker } from "../../src/index.ts";

const orders = pgTable("orders", {
  id: text("id").primaryKey(),
  address: text("address").notNull(),
  taskId: text("task_id"),
});

const ship = defineTask<{ orderId: string }, { parcel: string }>({ name: "order.ship" });

const db = drizzle(new Pool({ connectionString: process.argv[2] }));
await db.execute(
  sql`create table if not exists orders (id text primary key, address text not null, task_id text)`,
);

const wadi = new Wadi(fromDrizzle(db));
await wadi.migrate(); // your own transaction cannot create the tables on the way

/** Commits the order and its task together, or neither. */
async function place(id: string, address: string, isPaid: boolean): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.insert(orders).values({ id, address });
    const task = await wadi.with(tx).submit(ship, { orderId: id });
    await tx.update(orders).set({ taskId: task.id }).where(eq(orders.id, id));
    if (!isPaid) tx.rollback();
  });
}

await place("order-1", "1 Main Street", true);
try {
  await place("order-2", "2 Main Street", false);
} catch (error) {
  if (!(error instanceof TransactionRollbackError)) throw error;
}

await new Worker(wadi).task(ship, ({ payload }) => ({ parcel: `parcel of ${payload.orderId}` })).drain();

const shipped = await db
  .select({ order: orders.id, status: tasks.status, result: tasks.result })
  .from(orders)
  .innerJoin(tasks, eq(orders.taskId, tasks.id));
console.log(JSON.stringify({ shipped, orders: await db.$count(orders), tasks: await db.$count(tasks) }));

await wadi.close();
await db.$client.end();
