// A worker with a D1 binding and a Durable Object, both behind Drizzle. Each path answers with what became of it.

import { eq } from "drizzle-orm";
import { drizzle as drizzleD1 } from "drizzle-orm/d1";
import { drizzle as drizzleStorage } from "drizzle-orm/durable-sqlite";
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { D1Like } from "../../src/drivers/d1.ts";
import type { DurableObjectStorageLike } from "../../src/drivers/durable-object.ts";
import { fromDrizzle, tasks } from "../../src/drizzle/sqlite.ts";
import { Wadi, Worker } from "../../src/index.ts";

const orders = sqliteTable("orders", { id: text("id").primaryKey(), taskId: text("task_id") });
const CREATE = { sql: "create table if not exists orders (id text primary key, task_id text)", params: [] };

interface Env {
  readonly DB: D1Like;
  readonly Shop: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(url: string): Promise<Response> };
  };
}

export class Shop {
  readonly #storage: DurableObjectStorageLike;

  constructor({ storage }: { storage: DurableObjectStorageLike }) {
    this.#storage = storage;
  }

  async fetch(): Promise<Response> {
    return answer(async () => {
      const db = drizzleStorage<Record<string, never>, DurableObjectStorageLike>(this.#storage);
      const executor = fromDrizzle(db);
      const wadi = new Wadi(executor);
      await wadi.migrate();
      await executor.run(CREATE);
      const place = (id: string, end: () => void) =>
        db.transaction((tx) => {
          tx.insert(orders).values({ id }).run();
          const task = wadi.with(tx).submit("double", { n: 4 });
          tx.update(orders).set({ taskId: task.id }).where(eq(orders.id, id)).run();
          end();
        });
      place("kept", () => {});
      const error = await Promise.resolve()
        .then(() =>
          place("undone", () => {
            throw new Error("no");
          }),
        )
        .catch(String);
      const worker = new Worker(wadi).task("double", (ctx) =>
        ctx.succeedWith([db.insert(orders).values({ id: "done" })], { n: 8 }),
      );
      const { succeeded } = await worker.drain();
      const results = db
        .select({ order: orders.id, payload: tasks.payload, result: tasks.result })
        .from(orders)
        .innerJoin(tasks, eq(tasks.id, orders.taskId))
        .all();
      return {
        name: executor.name,
        error,
        orders: db.select().from(orders).all().length,
        succeeded,
        results,
      };
    });
  }
}

export default {
  async fetch(request: Request, { DB, Shop: shops }: Env): Promise<Response> {
    if (new URL(request.url).pathname === "/shop") {
      return shops.get(shops.idFromName("one")).fetch("https://object.test/");
    }
    return answer(async () => {
      const db = drizzleD1(DB);
      const executor = fromDrizzle(db);
      const wadi = new Wadi(executor);
      await wadi.migrate();
      await executor.run(CREATE);
      const { id, statements, read } = await wadi.statements.submit("double", { n: 4 });
      const placed = await db.batch([db.insert(orders).values({ id: "one", taskId: id }), ...statements]);
      const { outcome } = read(placed.slice(1));
      const other = await wadi.statements.submit("double", { n: 4 });
      const insert = DB.prepare("insert into orders values (?, ?)").bind("two", other.id);
      const sent = await DB.batch([insert, ...other.statements]);
      const { succeeded } = await new Worker(wadi).task("double", () => ({ n: 8 })).drain();
      const results = await db
        .select({ order: orders.id, payload: tasks.payload, result: tasks.result })
        .from(orders)
        .innerJoin(tasks, eq(tasks.id, orders.taskId));
      const outcomes = [outcome, other.read(sent.slice(1)).outcome];
      return { name: executor.name, outcomes, succeeded, results };
    });
  },
};

async function answer(work: () => Promise<unknown>): Promise<Response> {
  try {
    return Response.json(await work());
  } catch (error) {
    return new Response(String((error as Error).stack), { status: 500 });
  }
}
