// Prepared statements of the driver of node-pg.

import { describe, expect, it } from "vitest";
import { pg } from "../../../src/drivers/pg.ts";
import { pgFixture, sql } from "../../../testing/pg-fixture.ts";

const db = pgFixture("create table item (id int primary key)");
const insert = (id: number) => sql("insert into item values ($1) returning *", id);
const prepared = sql(
  "select statement, generic_plans + custom_plans as runs from pg_prepared_statements " +
    "where name like 'wadi%' and statement not like all (array['%pg_prepared%', 'set %'])",
);

describe("prepared statements", () => {
  it("are parsed once per connection, and by a failing statement too", async () => {
    await db.admin.query("truncate item; insert into item values (0)");
    const pool = db.pool({ max: 1 });
    const executor = pg(pool);
    await executor.run(insert(0)).catch(() => {}); // parsed, but whether it was is not known from the answer
    await executor.run(insert(1));
    await executor.batch([insert(2), insert(3)]);
    const another = pg(pool);
    await another.run(insert(4));
    expect(await another.run(prepared)).toEqual([{ statement: insert(0).sql, runs: "4" }]);
  });

  it("are described once: later rows have the same columns", async () => {
    const executor = pg(db.pool({ max: 1 }));
    const text = "select $1::int as a, $2::text as b where $1::int > 0";
    const rows = [];
    for (const a of [1, 0, 2]) rows.push(await executor.run(sql(text, a, "x")));
    expect(rows).toEqual([[{ a: "1", b: "x" }], [], [{ a: "2", b: "x" }]]);
  });

  it("are turned off where names do not last, and the batch is written once", async () => {
    await db.admin.query("truncate item");
    const pool = db.pool({ max: 1 });
    const executor = pg(pool);
    await executor.batch([insert(1), insert(2)]);
    await pool.query("deallocate all");
    expect(await executor.batch([insert(3), insert(4)])).toEqual([[{ id: "3" }], [{ id: "4" }]]);
    await executor.run(insert(5));
    expect(await executor.run(prepared)).toEqual([]); // it has turned itself off
    expect(await executor.run(sql("select count(*) as n from item"))).toEqual([{ n: "5" }]);
  });

  it("are prepared again when the result has another shape", async () => {
    const pool = db.pool({ max: 1 });
    const executor = pg(pool);
    const all = sql("select * from item where id = -1 union all select * from item where id = $1", 1);
    await db.admin.query("truncate item; insert into item values (1)");
    expect(await executor.run(all)).toEqual([{ id: "1" }]);
    await db.admin.query("alter table item add column note text default 'new'");
    expect(await executor.batch([all, all])).toEqual([
      [{ id: "1", note: "new" }],
      [{ id: "1", note: "new" }],
    ]);
    await executor.run(all);
    expect(await executor.run(prepared)).toMatchObject([{ statement: all.sql }]);
    await db.admin.query("alter table item drop column note");
  });

  it("are not used with `prepare: false`", async () => {
    await db.admin.query("truncate item");
    const executor = pg(db.pool({ max: 1 }), { prepare: false });
    await executor.batch([insert(1), insert(2)]);
    expect(await executor.run(prepared)).toEqual([]);
  });
});
