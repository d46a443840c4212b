// Types that an application names.

import type Database from "better-sqlite3";
import { expectTypeOf, test } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { pg } from "../../src/drivers/pg.ts";
import { defineTask, type Json, type SyncWadi, type Task, Wadi, type WadiOf } from "../../src/index.ts";

// Checked by the compiler; nothing here runs.
declare const db: Database.Database;
declare const pool: Parameters<typeof pg>[0];
const plain = defineTask<{ url: string }, { bytes: number }>({ name: "plain" });

test("an application can write the type of its Wadi without losing the abilities of the executor", () => {
  const _ = () => {
    const sync: SyncWadi = new Wadi(betterSqlite3(db));
    expectTypeOf(sync.with(db).submit(plain, { url: "x" }).id).toEqualTypeOf<string>();
    class Store {
      wadi: WadiOf<ReturnType<typeof betterSqlite3>> = new Wadi(betterSqlite3(db));
    }
    expectTypeOf(new Store().wadi.with(db).submit("a", 1).id).toEqualTypeOf<string>();
    const executor = pg(pool);
    const later: WadiOf<typeof executor> = new Wadi(executor);
    expectTypeOf(later.with(db).cancel("x")).toExtend<Promise<unknown>>();
    const any: Wadi = sync;
    return any;
  };
});

/** As types of an RPC are made: a value is sendable if each of its parts is, and lists are looked into at once. */
type Sendable<T> =
  | string
  | number
  | boolean
  | null
  | undefined
  | ReadonlyArray<T extends ReadonlyArray<infer U> ? Sendable<U> : never>
  | { [K in keyof T]: K extends string | number ? Sendable<T[K]> : never };
type Received<T> =
  T extends Array<infer U> ? Received<U>[] : T extends object ? { [K in keyof T]: Received<T[K]> } : T;
type Remote<T> = T extends Sendable<T> ? Promise<Received<T>> : never;
type Stub<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => Remote<R> : never;
};

test("a method that returns a task can be called over types of an RPC", () => {
  interface Api {
    typed(id: string): Promise<Task<{ url: string }, { bytes: number }>>;
    untyped(id: string): Promise<Task<Json, Json>[]>;
  }
  const _ = async (api: Stub<Api>) => {
    const task = await api.typed("task_x");
    expectTypeOf(task.payload.url).toEqualTypeOf<string>();
    expectTypeOf(task.status).toExtend<string>();
    expectTypeOf((await api.untyped("task_x"))[0]!.id).toEqualTypeOf<string>();
  };
});
