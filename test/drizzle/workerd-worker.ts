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
      const db = drizzleStorage<Record<string, never>, never>(this.#storage as never);
      const executor = fromDrizzle(db as typeof db & { $client: DurableObjectStorageLike });
      const wadi = new Wadi(executor);
      await wadi.migrate();
      await executor.run(CREATE);
      const place = (id: string, end: () => void) =>
        db.transaction((tx) => {
          const [[row]] = executor.within!(tx)!.batch([
            { sql: "insert into orders (id) values (?) returning id", params: [id] },
          ]) as [[{ id: string }]];
          tx.update(orders).set({ taskId: row.id }).where(eq(orders.id, id)).run();
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
      await wadi.submit("double", { n: 4 });
      const { succeeded } = await new Worker(wadi).task("double", () => ({ n: 8 })).drain();
      const results = db.select({ payload: tasks.payload, result: tasks.result }).from(tasks).all();
      return { name: executor.name, error, orders: db.select().from(orders).all(), succeeded, results };
    });
  }
}

export default {
  async fetch(request: Request, { DB, Shop: shops }: Env): Promise<Response> {
    if (new URL(request.url).pathname === "/shop") {
      return shops.get(shops.idFromName("one")).fetch("https://object.test/");
    }
    return answer(async () => {
      const db = drizzleD1<Record<string, never>, never>(DB as never);
      const executor = fromDrizzle(db as typeof db & { $client: D1Like });
      const wadi = new Wadi(executor);
      await wadi.migrate();
      await executor.run(CREATE);
      const item = executor.native!.prepare([
        { sql: "insert into orders (id, task_id) values (?, ?) returning id", params: ["second", "t"] },
      ]);
      const placed = await db.batch([db.insert(orders).values({ id: "first" }), ...item]);
      const raw = await DB.batch([DB.prepare("select 1 as one"), ...executor.native!.prepare([CREATE])]);
      await wadi.submit("double", { n: 4 });
      const { succeeded } = await new Worker(wadi).task("double", () => ({ n: 8 })).drain();
      const results = await db.select({ payload: tasks.payload, result: tasks.result }).from(tasks);
      return {
        name: executor.name,
        rows: executor.native!.rows(placed[1]),
        raw: raw.length,
        orders: await db.select().from(orders),
        succeeded,
        results,
      };
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
