import { pgTable, text as pgText } from "drizzle-orm/pg-core";
import { sqliteTable, text as sqliteText } from "drizzle-orm/sqlite-core";
import * as postgres from "../../src/drizzle/postgres.ts";
import * as sqlite from "../../src/drizzle/sqlite.ts";
import { Wadi } from "../../src/index.ts";
import type { OpenDrizzle } from "./databases.ts";

/** A table of an application, and those of Wadi, in each dialect. */
export const OWN = {
  sqlite: {
    tasks: sqlite.tasks,
    orders: sqliteTable("orders", { id: sqliteText("id").primaryKey(), taskId: sqliteText("task_id") }),
  },
  postgres: {
    tasks: postgres.tasks,
    orders: pgTable("orders", { id: pgText("id").primaryKey(), taskId: pgText("task_id") }),
  },
};

/** A Wadi on this database, with the tables of both there. */
export async function withOrders({ executor }: OpenDrizzle): Promise<Wadi> {
  const wadi = new Wadi(executor);
  await wadi.migrate();
  await executor.run({ sql: "create table orders (id text primary key, task_id text)", params: [] });
  return wadi;
}
