// The contract of an Executor as tests, which every driver passes on its real engine.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Executor, Row, Statement, Value } from "../src/core/executor.ts";
import type { OpenTarget, Target } from "./target.ts";

const TOO_LARGE = 2_000_000_000;

/** What every driver promises, on the real engine of `target`. */
export function testExecutor(target: Target): void {
  describe(`executor contract: ${target.name}`, () => {
    const isSqlite = target.dialect === "sqlite";
    let database: OpenTarget;
    let executor: Executor;

    /** `?` stands for the next parameter: text unless written `?int`. */
    function sql(text: string, ...params: Value[]): Statement {
      let index = 0;
      const compiled = text.replace(/\?(int)?/g, (_, isInt) => {
        index++;
        if (isSqlite) return isInt ? "cast(? as integer)" : "?";
        return isInt ? `$${index}::bigint` : `$${index}::text`;
      });
      return { sql: compiled, params };
    }

    const insert = (id: string, n: Value = 1, body: Value = null) =>
      sql("insert into item(id, n, body) values (?, ?int, ?) returning id, n, body", id, n, body);
    const ids = async (like = "%"): Promise<unknown[]> =>
      (await executor.run(sql("select id from item where id like ? order by id", like))).map(({ id }) => id);
    const failure = async (work: Promise<unknown>): Promise<unknown> => {
      const outcome = await work.then(
        () => ({ ok: true }),
        (error: unknown) => ({ error }),
      );
      if (!("error" in outcome)) throw new Error("expected a failure");
      return outcome.error;
    };

    beforeAll(async () => {
      database = await target.open();
      executor = database.executor;
      const bigint = isSqlite ? "integer" : "bigint";
      await executor.run(sql(`create table item (id text primary key, n ${bigint}, body text)`));
    }, 60_000);
    afterAll(() => database?.close());
    beforeEach(async () => {
      await executor.run(sql("delete from item"));
    });

    it("names its dialect and its limits", () => {
      expect(executor.dialect).toBe(target.dialect);
      expect(executor.name).not.toBe("");
      expect(executor.limits.maxParamBytes).toBeGreaterThan(100_000);
      expect(executor.limits.maxBatchStatements).toBeGreaterThanOrEqual(10);
    });

    it("returns plain rows keyed by column name, in order", async () => {
      await executor.batch([insert("b", 2), insert("a", 1)]);
      const rows = await executor.run(sql("select id, body as text_body from item order by id"));
      expect(rows).toStrictEqual([
        { id: "a", text_body: null },
        { id: "b", text_body: null },
      ]);
    });

    it("returns no rows for a statement that has none", async () => {
      expect(await executor.run(sql("select id from item"))).toEqual([]);
      expect(await executor.run(sql("update item set n = 1"))).toEqual([]);
    });

    it("returns one row for each row that RETURNING names", async () => {
      await executor.batch(["a", "b", "c"].map((id) => insert(id)));
      const update = "update item set n = n + 1 where id <> ? returning id";
      expect(await executor.run(sql(update, "b"))).toHaveLength(2);
      expect(await executor.run(sql(`${update}, n`, "none"))).toHaveLength(3);
    });

    const texts: [string, string][] = [
      ["an empty text", ""],
      ["digits", "0012"],
      ["quotes and backslashes", `'"\\ \n\t? $1 :name`],
      ["characters outside ASCII", "ünï ✓ 漢字 👩‍👩‍👧 \u{1F680}"],
      ["a large text", "äb".repeat(100_000)],
    ];
    it.each(texts)("gives back %s as it was", async (_, text) => {
      expect((await executor.run(insert("t", 1, text)))[0]?.body).toBe(text);
      expect((await executor.run(sql("select body from item")))[0]?.body).toBe(text);
    });

    it("gives back null and integers of the size of a clock", async () => {
      const [row] = await executor.run(insert("n", 1_790_000_000_123, null));
      expect(row?.body).toBeNull();
      expect(Number(row?.n)).toBe(1_790_000_000_123);
      expect((await executor.run(insert("m", null)))[0]?.n).toBeNull();
      expect(Number((await executor.run(insert("z", 0)))[0]?.n)).toBe(0);
    });

    it("takes many rows as one JSON parameter", async () => {
      const rows = Array.from({ length: 1000 }, (_, n) => ({ id: `j${n}`, n, body: "x".repeat(100) }));
      const from = isSqlite
        ? "select value ->> 'id', value ->> 'n', value ->> 'body' from json_each(?)"
        : "select id, n, body from jsonb_to_recordset($1::jsonb) as r(id text, n bigint, body text)";
      const statement = {
        sql: `insert into item(id, n, body) ${from} returning id`,
        params: [JSON.stringify(rows)],
      };
      expect(await executor.run(statement)).toHaveLength(1000);
      const [sum] = await executor.run(sql("select sum(n) as total from item"));
      expect(Number(sum?.total)).toBe(499_500);
    });

    it("runs a batch in order, each statement seeing the ones before it", async () => {
      const results = await executor.batch([
        insert("a", 1),
        sql("update item set n = n + 10 where id = ? returning n", "a"),
        sql("select n from item where id = ?", "a"),
        sql("delete from item where id = ?", "a"),
        sql("select id from item"),
      ]);
      const numbers = results.map((rows: Row[]) => rows.map(({ n }) => Number(n)));
      expect(numbers.slice(0, 3)).toEqual([[1], [11], [11]]);
      expect(results.slice(3)).toEqual([[], []]);
    });

    it("runs an empty batch as nothing", async () => {
      expect(await executor.batch([])).toEqual([]);
    });

    it("creates and uses a table in one batch", async () => {
      const results = await executor.batch([
        sql("create table made (id text)"),
        sql("insert into made values (?) returning id", "x"),
        sql("drop table made"),
      ]);
      expect(results[1]).toEqual([{ id: "x" }]);
    });

    it("undoes the whole batch when a statement in it fails, and goes on", async () => {
      await executor.run(insert("taken"));
      await failure(executor.batch([insert("a"), insert("taken"), insert("b")]));
      expect(await ids()).toEqual(["taken"]);
      expect(await executor.run(insert("later"))).toHaveLength(1);
      await executor.batch([insert("x"), insert("y")]);
      expect(await ids()).toEqual(["later", "taken", "x", "y"]);
    });

    it("undoes the whole batch when its last statement is wrong", async () => {
      await failure(executor.batch([insert("a"), sql("insert into missing values (?)", "a")]));
      expect(await ids()).toEqual([]);
    });

    it("keeps 30 concurrent batches whole and apart", async () => {
      await executor.run(insert("counter", 0));
      const batches = Array.from({ length: 30 }, (_, n) =>
        executor.batch([
          sql("update item set n = n + 1 where id = ? returning n", "counter"),
          insert(`c${String(n).padStart(2, "0")}`, n),
          sql("select n from item where id = ?", "counter"),
        ]),
      );
      const seen = (await Promise.all(batches)).map(([before, , after]) => {
        expect(after?.[0]?.n).toBe(before?.[0]?.n);
        return Number(after?.[0]?.n);
      });
      expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
      expect(await ids("c__")).toHaveLength(30);
    });

    it("lets one concurrent caller fail without the others", async () => {
      await executor.run(insert("taken"));
      const settled = await Promise.allSettled([
        executor.run(insert("a")),
        executor.batch([insert("b1"), insert("taken"), insert("b2")]),
        executor.run(insert("taken")),
        executor.batch([insert("c1"), insert("c2")]),
        executor.run(sql("selec 1")),
        executor.run(sql("select id from item where id = ?", "taken")),
      ]);
      const statuses = settled.map(({ status }) => status);
      expect(statuses).toEqual(["fulfilled", "rejected", "rejected", "fulfilled", "rejected", "fulfilled"]);
      expect(await ids()).toEqual(["a", "c1", "c2", "taken"]);
    });

    it("shows a committed row to another connection", async () => {
      const other = await database.connect();
      await executor.batch([insert("a"), insert("b")]);
      expect(await other.run(sql("select id from item order by id"))).toEqual([{ id: "a" }, { id: "b" }]);
      await other.run(insert("c"));
      expect(await ids()).toEqual(["a", "b", "c"]);
      await other.close();
    });

    it("reports why a statement failed, alone and in a batch", async () => {
      await executor.run(insert("taken"));
      const cases: [Statement, string][] = [
        [insert("taken"), "conflict"],
        [sql("select * from missing"), "missing-schema"],
        [sql("insert into missing(id) values (?)", "a"), "missing-schema"],
        [sql("select missing from item"), "missing-schema"],
        [sql("insert into item(missing) values (?)", "a"), "missing-schema"],
        [sql("update item set missing = 1"), "missing-schema"],
        [sql(isSqlite ? "select json(?) as j" : "select cast(? as jsonb) as j", "{"), "invalid-value"],
        [
          sql(isSqlite ? "select length(zeroblob(?int))" : "select repeat('x', cast(? as int))", TOO_LARGE),
          "invalid-value",
        ],
        [sql("selec 1"), "rejected"],
      ];
      for (const [statement, expected] of cases) {
        const alone = await failure(executor.run(statement));
        expect([statement.sql, executor.classify(alone)]).toEqual([statement.sql, expected]);
        const batched = await failure(executor.batch([insert("new"), statement]));
        expect([statement.sql, executor.classify(batched)]).toEqual([statement.sql, expected]);
      }
      expect(await ids()).toEqual(["taken"]);
    });

    it("distinguishes a database that refuses writes for now from one that refuses a value", async () => {
      if (isSqlite) {
        // The others cannot be made read-only.
        if (!executor.name.startsWith("better-sqlite3") && target.name !== "libsql-file") return;
        await executor.run(sql("pragma query_only = 1"));
        expect(executor.classify(await failure(executor.run(insert("a"))))).toBe("denied");
        expect(executor.classify(await failure(executor.batch([insert("a"), insert("b")])))).toBe("denied");
        await executor.run(sql("pragma query_only = 0"));
      } else {
        const readOnly = sql("set transaction read only");
        expect(executor.classify(await failure(executor.batch([readOnly, insert("a")])))).toBe("unavailable");
      }
      expect(await executor.run(insert("a"))).toHaveLength(1);
    });

    it("takes one round trip for a run and one for a batch", async () => {
      const spent = async (work: () => Promise<unknown>) => {
        const before = database.meter();
        await work();
        const after = database.meter();
        return [after.roundTrips - before.roundTrips, after.statements - before.statements];
      };
      expect(await spent(() => executor.run(insert("a")))).toEqual([1, 1]);
      expect(await spent(() => executor.run(sql("select id from item")))).toEqual([1, 1]);
      expect(await spent(() => executor.batch([insert("b"), insert("c"), insert("d")]))).toEqual([1, 3]);
      expect(await spent(() => executor.batch([]))).toEqual([0, 0]);
    });

    it("leaves the borrowed client open when it is closed", async () => {
      await executor.close();
      await executor.close();
      expect(await executor.run(insert("still"))).toHaveLength(1);
    });
  });
}
