// The driver of the storage of a Durable Object.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DurableObjectStorageLike, durableObject } from "../../../src/drivers/durable-object.ts";
import { type OpenDurableObject, openDurableObject } from "../../../testing/durable-object.ts";
import { offlineClient } from "../../../testing/offline-client.ts";

let database: OpenDurableObject;

const statement = (sql: string, ...params: (string | number | null)[]) => ({ sql, params });

beforeAll(async () => {
  database = await openDurableObject();
}, 60_000);
afterAll(() => database.close());

describe("classify", () => {
  const { classify } = durableObject(offlineClient<DurableObjectStorageLike>());

  it.each([
    ["no such table: cairnq_tasks: SQLITE_ERROR", "missing-schema"],
    ["UNIQUE constraint failed: t.a: SQLITE_CONSTRAINT", "conflict"],
    ["UNIQUE constraint failed: t.a: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)", "conflict"],
    ["string or blob too big: SQLITE_TOOBIG", "invalid-value"],
    ["malformed JSON: SQLITE_ERROR", "invalid-value"],
    ["database or disk is full: SQLITE_FULL", "busy"],
    ["Exceeded allowed rows written in Durable Objects free tier.", "busy"],
    ["something new", "rejected"],
  ])("takes %j as %s", (message, expected) => {
    expect(classify(new Error(message))).toBe(expected);
  });

  it("takes a thrown value that is no Error as a refusal", () => {
    expect(classify("text")).toBe("rejected");
  });
});

it("opens each object empty", async () => {
  const other = await openDurableObject();
  await database.executor.run(statement("create table mine (id text)"));
  await expect(other.executor.run(statement("select * from mine"))).rejects.toThrow("no such table");
  other.close();
});

it("takes the largest parameter that its limits promise, in bytes", async () => {
  const { executor } = database;
  const text = "é".repeat(executor.limits.maxParamBytes / 2);
  await executor.run(statement("create table large (body text)"));
  expect(
    await executor.run(statement("insert into large values (?) returning length(body) as n", text)),
  ).toEqual([{ n: text.length }]);
});

it("accepts the storage itself as its open transaction, and nothing else", () => {
  const rows = [{ n: 1 }];
  const storage: DurableObjectStorageLike = {
    sql: { exec: () => ({ toArray: () => rows }) },
    transactionSync: (work) => work(),
  };
  const { within } = durableObject(storage);
  expect(within!(storage)!.batch([statement("select 1 as n")])).toEqual([rows]);
  expect([{}, null, { ...storage }].map((other) => within!(other))).toEqual([null, null, null]);
});
