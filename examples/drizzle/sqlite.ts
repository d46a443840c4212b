// An order and the task that ships it, in one transaction of Drizzle on SQLite. Ends with what is in the tables.
// By hand: node examples/drizzle/sqlite.ts [DATABASE]
import Database from "better-sqlite3";
import { eq, sql, TransactionRollbackError } from "drizzle-orm";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
// An application imports these from "wadi/drizzle/sqlite" and from "wadi".
import { fromDrizzle, tasks } from "../../src/drizzle/sqlite.ts";
import { defineTask, Wadi, Worker } from "../../src/index.ts";

const orders = sqliteTable("orders", {
  id: text("id").primaryKey(),
  address: text("address").notNull(),
  taskId: text("task_id"),
});

const ship = defineTask<{ orderId: string }, { parcel: string }>({ name: "order.ship" });

const db = drizzle({ client: new Database(process.argv[2] ?? ":memory:") });
db.run(sql`create table if not exists orders (id text primary key, address text not null, task_id text)`);

const wadi = new Wadi(fromDrizzle(db));
await wadi.migrate(); // your own transaction cannot create the tables on the way

/** Commits the order and its task together, or neither. better-sqlite3 is synchronous, and so is Wadi on it. */
function place(id: string, address: string, isPaid: boolean): void {
  db.transaction((tx) => {
    tx.insert(orders).values({ id, address }).run();
    const task = wadi.with(tx).submit(ship, { orderId: id });
    tx.update(orders).set({ taskId: task.id }).where(eq(orders.id, id)).run();
    if (!isPaid) tx.rollback();
  });
}

place("order-1", "1 Main Street", true);
try {
  place("order-2", "2 Main Street", false);
} catch (error) {
  if (!(error instanceof TransactionRollbackError)) throw error;
}

await new Worker(wadi).task(ship, ({ payload }) => ({ parcel: `parcel of ${payload.orderId}` })).drain();

const shipped = db
  .select({ order: orders.id, status: tasks.status, result: tasks.result })
  .from(orders)
  .innerJoin(tasks, eq(orders.taskId, tasks.id))
  .all();
console.log(JSON.stringify({ shipped, orders: await db.$count(orders), tasks: await db.$count(tasks) }));

await wadi.close();
db.$client.close();
