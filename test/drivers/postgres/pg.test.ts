// The driver of node-pg: round trips, values, isolation and transactions.

import { describe, expect, it } from "vitest";
import { pg } from "../../../src/drivers/pg.ts";
import { testExecutor } from "../../../testing/driver-contract.ts";
import { failure, pgFixture, sql } from "../../../testing/pg-fixture.ts";
import { untilOneWaitsForALock } from "../../../testing/postgres-activity.ts";
import { pg as target } from "../../../testing/targets/pg.ts";

testExecutor(target);

const db = pgFixture("create table item (id int primary key, note text)");
const insert = (id: number, note: string | null = null) =>
  sql("insert into item values ($1, $2) returning id, note", id, note);
const count = sql("select count(*) as n from item");
const isolation = sql("show transaction_isolation");
const reset = () => db.admin.query("truncate item");
const stored = async () => (await db.admin.query("select id from item order by id")).rows.map(({ id }) => id);

describe("round trips", () => {
  it.each([
    ["a pool", {}, true],
    ["a pool with a query timeout", { query_timeout: 5_000 }],
    ["a pool in pipeline mode", { pipeline: true }],
    ["a pool without prepared statements", {}, false],
  ])("takes one for a run and one for a batch, cold and warm, on %s", async (_, config, prepare = true) => {
    await reset();
    const pool = db.pool({ max: 1, ...config });
    await pool.query("select 1");
    const executor = pg(pool, { prepare });
    const trips = async (work: () => Promise<unknown>) => {
      const before = db.proxy.turns;
      await work();
      return db.proxy.turns - before;
    };
    const batch = () => executor.batch([insert(1), insert(2), count, sql("delete from item")]);
    const bad = () => failure(executor.batch([insert(3), insert(3), count]));
    const spent: number[] = [];
    for (let i = 0; i < 2; i++) {
      for (const work of [() => executor.run(count), batch, bad]) spent.push(await trips(work));
    }
    expect(spent).toEqual([1, 1, 1, 1, 1, 1]);
    expect(await stored()).toEqual([]);
  });
});

describe("values", () => {
  it("are returned as text or null, whatever the type parsers are", async () => {
    const executor = pg(db.pool({ types: { getTypeParser: () => () => "parsed" } }));
    const text =
      "select $1::int as i, $2::text as t, $3::text as n, true as b, '{\"a\":1}'::jsonb as j, 1.50 as d";
    expect(await executor.run(sql(text, 7, "é\n'\"", null))).toEqual([
      { i: "7", t: "é\n'\"", n: null, b: "t", j: '{"a": 1}', d: "1.50" },
    ]);
  });
});

describe("a failure", () => {
  it("in a batch writes nothing and leaves no transaction behind on its connection", async () => {
    await reset();
    const executor = pg(db.pool({ max: 1 }));
    const error = await failure(executor.batch([insert(1), insert(2), insert(1), insert(3)]));
    expect([error.code, executor.classify(error)]).toEqual(["23505", "conflict"]);
    expect(await executor.batch([insert(9), count])).toEqual([[{ id: "9", note: null }], [{ n: "1" }]]);
    expect(await stored()).toEqual([9]);
  });

  it("is also that of a constraint that is checked only at the commit", async () => {
    await reset();
    await db.admin.query("create table child (item int references item deferrable initially deferred)");
    const executor = pg(db.pool({ max: 1 }));
    const error = await failure(executor.batch([insert(1), sql("insert into child values (2)")]));
    expect([error.code, executor.classify(error)]).toEqual(["23503", "conflict"]);
    expect(await stored()).toEqual([]);
    await db.admin.query("drop table child");
  });

  it("is the answer to a COPY, which needs a stream", async () => {
    const executor = pg(db.pool({ max: 1 }));
    expect((await failure(executor.run(sql("copy item from stdin")))).message).toMatch(/COPY/);
    expect(await executor.run(sql("select 1 as one"))).toEqual([{ one: "1" }]);
  });
});

describe("twenty concurrent batches", () => {
  const many = async (executor: ReturnType<typeof pg>) => {
    await reset();
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => {
        const second = i % 4 === 3 ? i : 100 + i; // every fourth hits its own first row
        return executor.batch([
          insert(i),
          insert(second),
          sql("select txid_current() as tx, current_setting($1) as level", "transaction_isolation"),
        ]);
      }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    process.removeListener("warning", onWarning);
    expect(warnings).toEqual([]);
    expect(results.map(({ status }) => status === "fulfilled")).toEqual(results.map((_, i) => i % 4 !== 3));
    const kept = Array.from({ length: 20 }, (_, i) => i).filter((i) => i % 4 !== 3);
    expect(await stored()).toEqual([...kept, ...kept.map((i) => 100 + i)]);
    const last = results.flatMap((result) => (result.status === "fulfilled" ? result.value[2]! : []));
    expect(new Set(last.map(({ tx }) => tx)).size).toBe(15);
    expect(new Set(last.map(({ level }) => level))).toEqual(new Set(["read committed"]));
  };

  it("share a pool of five", async () => {
    const pool = db.pool({ max: 5 });
    await many(pg(pool));
    expect([pool.totalCount, pool.idleCount]).toEqual([5, 5]);
  });

  it("share one client, in order", async () => {
    const client = await db.client();
    await many(pg(client));
    expect(client.listenerCount("error")).toBe(1);
  });
});

describe("a borrowed client", () => {
  it("keeps batches inside a transaction of the application", async () => {
    await reset();
    const client = await db.client();
    const executor = pg(client);
    await client.query("begin");
    await executor.batch([insert(1), insert(2)]);
    await client.query("rollback");
    expect(await stored()).toEqual([]);
  });

  it("is not ended, and no listeners are left on it", async () => {
    const pool = db.pool({ max: 1 });
    const first = await pool.connect();
    first.release();
    const before = first.listenerCount("error");
    for (let i = 0; i < 3; i++) {
      const executor = pg(pool);
      await executor.run(count);
      await failure(executor.run(sql("select 1/0")));
      await executor.close();
    }
    expect(await pool.connect()).toBe(first);
    first.release();
    expect([first.listenerCount("error"), pool.listenerCount("error"), pool.ended]).toEqual([
      before,
      1,
      false,
    ]);
  });
});

describe("isolation", () => {
  const repeatable = { options: "-c default_transaction_isolation=repeatable\\ read" };

  it("is READ COMMITTED in batches and transactions, whatever the session's default", async () => {
    const executor = pg(db.pool(repeatable));
    expect(await executor.run(isolation)).toEqual([{ transaction_isolation: "repeatable read" }]);
    expect(await executor.batch([isolation])).toEqual([[{ transaction_isolation: "read committed" }]]);
    expect(await executor.transaction!((tx) => tx.run(isolation))).toEqual([
      { transaction_isolation: "read committed" },
    ]);
  });

  it("shows the statement after a lock the commits during its wait", async () => {
    await reset();
    const executor = pg(db.pool(repeatable));
    const holder = await db.client();
    await holder.query("begin; select pg_advisory_xact_lock(7); insert into item values (1)");
    const waiting = executor.batch([sql("select pg_advisory_xact_lock(7)"), count]);
    await untilOneWaitsForALock(db.admin);
    await holder.query("commit");
    expect((await waiting)[1]).toEqual([{ n: "1" }]);
  });
});

describe("transaction", () => {
  it("commits what its function did, and rolls back if it throws", async () => {
    await reset();
    const executor = pg(db.pool({ max: 1 }));
    const rows = await executor.transaction!(async (tx) => {
      await tx.batch([insert(1), insert(2)]);
      return tx.run(count);
    });
    expect(rows).toEqual([{ n: "2" }]);
    const undo = executor.transaction!(async (tx) => {
      await tx.run(insert(3));
      throw new Error("changed my mind");
    });
    expect((await failure(undo)).message).toBe("changed my mind");
    expect(await executor.run(count)).toEqual([{ n: "2" }]);
  });

  it("reports no commit after a statement failed, even if that was caught", async () => {
    await reset();
    const executor = pg(db.pool({ max: 1 }));
    const work = executor.transaction!(async (tx) => {
      await tx.run(insert(1));
      await failure(tx.run(insert(1)));
    });
    expect((await failure(work)).message).toMatch(/rolled back/);
    expect(await executor.run(count)).toEqual([{ n: "0" }]);
  });
});
