// The driver of PGlite.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Executor, Value } from "../../../src/core/executor.ts";
import { type PgliteLike, pglite } from "../../../src/drivers/pglite.ts";
import { offlineClient } from "../../../testing/offline-client.ts";
import { openPglite } from "../../../testing/targets/pglite.ts";
import { until } from "../../../testing/until.ts";

let database: Awaited<ReturnType<typeof openPglite>>;
let executor: Executor;

const sql = (text: string, ...params: Value[]) => ({ sql: text, params });

beforeAll(async () => {
  database = await openPglite();
  executor = pglite(database.client);
}, 60_000);
afterAll(() => database.close());
beforeEach(async () => {
  await database.client.exec("drop table if exists item; create table item (id text primary key)");
});

const ids = async () => (await executor.run(sql("select id from item order by id"))).map(({ id }) => id);
const insert = (id: string) => sql("insert into item values ($1) returning id", id);

it("leaves JSON, large integers, bytes and dates as text", async () => {
  const text = `select '{"a": [1]}'::jsonb as j, 9007199254740993 as n, true as b, '\\x0102'::bytea as d,
    '2026-08-01 10:00:00+00'::timestamptz::date as t`;
  const row = { j: '{"a": [1]}', n: "9007199254740993", b: "t", d: "\\x0102", t: "2026-08-01" };
  expect(await executor.run(sql(text))).toEqual([row]);
});

it("sends each value as text, whatever its type in the statement", async () => {
  const text = "select $1::jsonb ->> 'a' as a, $2::boolean as b, $3::bigint as n, $4::double precision as d";
  expect(await executor.run(sql(text, '{"a":1}', "true", 5, 0.5))).toEqual([
    { a: "1", b: "t", n: "5", d: 0.5 },
  ]);
});

it("receives notifications until it stops listening", async () => {
  const received: string[] = [];
  const stop = await executor.listen!(
    ["a", "B x"],
    (channel, payload) => received.push(`${channel} ${payload}`),
    () => {},
  );
  await executor.run(sql("select pg_notify('a', '1'), pg_notify('B x', '2'), pg_notify('b', '3')"));
  await until(() => received.length === 2);
  expect(received.sort()).toEqual(["B x 2", "a 1"]);
  stop();
  await executor.run(sql("select pg_notify('a', '4')"));
  expect(received).toHaveLength(2);
});

describe("transaction", () => {
  it("commits what was run in it, or nothing of it", async () => {
    await executor.transaction!(async (tx) => {
      await tx.run(insert("a"));
      await tx.batch([insert("b"), insert("c")]);
    });
    const failing = executor.transaction!(async (tx) => {
      await tx.run(insert("d"));
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await ids()).toEqual(["a", "b", "c"]);
  });
});

describe("within", () => {
  it("takes part in a transaction that the application began", async () => {
    await database.client.transaction(async (tx) => {
      expect(await executor.within!(tx)!.batch([insert("a")])).toEqual([[{ id: "a" }]]);
    });
    const undone = database.client.transaction(async (tx) => {
      await executor.within!(tx)!.batch([insert("b")]);
      await tx.rollback();
    });
    await undone;
    expect(await ids()).toEqual(["a"]);
  });

  it("is for open transactions of PGlite only", async () => {
    const ended = await database.client.transaction(async (tx) => tx);
    for (const other of [ended, database.client, null, "tx", {}, { query() {} }]) {
      expect(executor.within!(other)).toBeNull();
    }
  });
});

it("takes errors without a SQLSTATE as refusals, and those of a closed client as its end", () => {
  expect(executor.classify(new Error("PGlite is closed"))).toBe("rejected");
  const closed = pglite(offlineClient<PgliteLike>({ closed: true }));
  expect(closed.classify(new Error("PGlite is closed"))).toBe("unusable");
  expect(closed.classify("text")).toBe("rejected");
});
