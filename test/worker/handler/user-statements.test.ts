// The statements of the application that `succeedWith` takes.

import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import * as v from "valibot";
import { beforeEach, describe, expect, test } from "vitest";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { defineTask, type TaskContext, Wadi, Worker, type WorkerEvent } from "../../../src/index.ts";
import { ManualClock } from "../../../testing/memory.ts";
import { storeOf } from "../../../testing/store.ts";

const ledger = sqliteTable("ledger", { id: text("id").primaryKey(), n: integer("n") });

describe("ctx.succeedWith", () => {
  let db: Database.Database;
  let clock: ManualClock;
  let wadi: Wadi;

  beforeEach(async () => {
    db = new Database(":memory:");
    clock = new ManualClock();
    wadi = new Wadi(betterSqlite3(db), { clock: clock.read });
    await wadi.migrate();
    db.exec("create table ledger (id text primary key, n integer)");
  });

  const rows = () => db.prepare("select id, n from ledger order by id").raw().all() as [string, unknown][];
  const insert = (...[id, n]: [id: string, n?: unknown]) => ({
    sql: "insert into ledger values (?, coalesce(?, 1))",
    params: [id, n],
  });

  /** Drains one task whose handler does this. */
  async function drained(handler: (context: TaskContext) => unknown) {
    const { id } = await wadi.submit("a", null);
    const events: WorkerEvent[] = [];
    const worker = new Worker(wadi, { onEvent: (event) => void events.push(event) });
    const summary = await worker.task("a", handler).drain({ maxTasks: 1 });
    return { summary, task: (await wadi.get(id))!, events: events.map(({ type }) => type) };
  }

  test("commits rows and result, and ends the attempt", async () => {
    const { summary, task, events } = await drained(async ({ succeedWith, id }) => {
      const done = await succeedWith([insert("a"), insert("b")], { rows: 2 });
      expect(done).toEqual({ rows: 2 });
      expect(await wadi.getStatus(id)).toMatchObject({ status: "succeeded" });
      return "ignored";
    });
    expect(summary).toMatchObject({ claimed: 1, succeeded: 1, lost: 0, failed: 0 });
    expect(task).toMatchObject({ status: "succeeded", result: { rows: 2 } });
    expect(rows()).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    expect(events.filter((type) => type === "succeeded")).toHaveLength(1);
  });

  test("wakes waiters of the same Wadi", async () => {
    const { id } = await wadi.submit("a", null);
    const waiting = wadi.wait(id, { timeoutMs: 5000, pollMs: 4000, maxPollMs: 4000 });
    await new Worker(wadi).task("a", (context) => context.succeedWith([insert("a")], 5)).drain();
    expect(await waiting).toMatchObject({ status: "succeeded", result: 5 });
  });

  test("reports a lost lease to the handler, and nothing is written", async () => {
    const { summary } = await drained(async (context) => {
      clock.advance(600_000);
      await storeOf(wadi).claim({ pools: [], workerId: "x:1", leaseMs: 1, limited: false });
      const refused = context.succeedWith([insert("a")], 1);
      await expect(refused).rejects.toMatchObject({ name: "LostLease", taskId: context.id });
      expect(context.lostLease).toBe(true);
      await expect(context.succeedWith([insert("a")], 1)).rejects.toMatchObject({ name: "LostLease" });
    });
    expect(summary).toMatchObject({ claimed: 1, lost: 1, succeeded: 0 });
    expect(rows()).toEqual([]);
  });

  test("reports a requested cancel to the handler, and the task becomes canceled", async () => {
    const { summary, task } = await drained(async (context) => {
      await wadi.cancel(context.id);
      try {
        await context.succeedWith([insert("a")], 1);
      } catch (error) {
        expect(error).toMatchObject({ name: "TaskCanceled" });
        expect(context.canceled).toBe(true);
        throw error;
      }
    });
    expect(summary).toMatchObject({ canceled: 1, succeeded: 0 });
    expect(task).toMatchObject({ status: "canceled", result: null });
    expect(rows()).toEqual([]);
  });

  test("leaves the attempt open after a refusal: the handler may go on", async () => {
    db.exec("insert into ledger values ('taken', 0)");
    const { task } = await drained(async (context) => {
      const refused = context.succeedWith([insert("a"), insert("taken")], 1);
      await expect(refused).rejects.toMatchObject({ name: "DriverError", retryable: false });
      return context.succeedWith([insert("b")], 2);
    });
    expect(task).toMatchObject({ status: "succeeded", result: 2 });
    expect(rows().map(([id]) => id)).toEqual(["b", "taken"]);
  });

  test("a refusal that the handler does not catch fails the attempt", async () => {
    const { summary, task } = await drained((context) => context.succeedWith([{ sql: "nonsense" }], 1));
    expect(summary).toMatchObject({ retried: 1 });
    expect(task).toMatchObject({ status: "queued", error: { type: "DriverError" } });
  });

  test("decides the outcome, also if the handler returns before it is committed", async () => {
    const committed = await drained((context) => {
      void context.succeedWith([insert("a")], "rows");
      return "returned";
    });
    expect(committed.task).toMatchObject({ status: "succeeded", result: "rows" });
    const refused = await drained((context) => {
      context.succeedWith([insert("a")], "rows").catch(() => {});
      return "returned";
    });
    expect(refused.task).toMatchObject({ status: "succeeded", result: "returned" });
    expect(rows()).toEqual([["a", 1]]);
  });

  test("comes once: a second one, or one after succeed, is refused", async () => {
    const advice = "has ended or is ended by another succeedWith; call it once, instead of succeed or fail";
    const late = {
      name: "InvalidArgument",
      message: expect.stringMatching(`^succeedWith .* attempt ${advice}$`),
    };
    await drained(async (context) => {
      const first = context.succeedWith([insert("a")], 1);
      await expect(context.succeedWith([insert("b")], 2)).rejects.toMatchObject(late);
      await first;
      await expect(context.succeedWith([insert("b")], 2)).rejects.toMatchObject(late);
    });
    await drained(async (context) => {
      context.succeed("at once");
      await expect(context.succeedWith([insert("c")], 2)).rejects.toMatchObject(late);
    });
    expect(rows()).toEqual([["a", 1]]);
  });

  test("checks statements and results before anything is sent", async () => {
    const { task } = await drained(async (context) => {
      const wrong = (statements: unknown) => context.succeedWith(statements as never, 1);
      const argument = { name: "InvalidArgument" };
      const forms =
        /^statement 2 of succeedWith must be \{ sql, params \}, a query with toSQL\(\), or a statement that/;
      for (const none of [null, undefined, 5, "select 1", {}, { sql: "" }, { sql: "select 1", params: {} }]) {
        await expect(wrong([insert("a"), none])).rejects.toMatchObject({ ...argument, message: forms });
      }
      await expect(wrong("select 1")).rejects.toMatchObject(argument);
      const hidden = ["/* the end */ commit", "-- no\n;rollback", "-- one\n/* two\n */\tEND"];
      for (const sql of ["commit", " BEGIN", "rollback to x", "savepoint s", "End", ...hidden]) {
        await expect(wrong([{ sql }])).rejects.toMatchObject({
          ...argument,
          message: expect.stringMatching(/^statement 1 of succeedWith begins or ends a transaction/),
        });
      }
      for (const sql of ["select 1; ; select 2", "select ';' ;-- ;\n commit", `select "a""b", 'it''s' ; x`]) {
        await expect(wrong([{ sql }])).rejects.toMatchObject({
          ...argument,
          message: "statement 1 of succeedWith is more than one statement; pass each by itself",
        });
      }
      for (const [sql, count] of [
        ["select ?, '?'", 1],
        ["select ?2, ? -- ?", 3],
        ["select 1", 0],
      ]) {
        await expect(wrong([{ sql, params: [1, 2] }])).rejects.toMatchObject({
          ...argument,
          message: `statement 1 of succeedWith has ${count} placeholders and 2 params`,
        });
      }
      await expect(wrong([{ sql: "select ?", args: [1] }])).rejects.toMatchObject({
        ...argument,
        message: 'statement 1 of succeedWith has no option "args"; it takes sql, params',
      });
      await expect(wrong([insert("a", new Map())])).rejects.toMatchObject({ name: "SerializationError" });
      for (const param of [Number.NaN, 2n ** 60n, new Uint8Array(1), Symbol("x"), () => 1, new Date("x")]) {
        await expect(wrong([insert("a", param)])).rejects.toMatchObject({
          ...argument,
          message: expect.stringMatching(/^parameter 2 of statement 1 of succeedWith must be a string, /),
        });
      }
      await expect(wrong(Array(1000).fill(insert("a")))).rejects.toMatchObject({
        ...argument,
        message: "succeedWith takes at most 997 statements on better-sqlite3, got 1000",
      });
      const result = context.succeedWith([insert("a")], { n: 1n } as never);
      await expect(result).rejects.toMatchObject({ name: "SerializationError" });
      return "done";
    });
    expect(task).toMatchObject({ status: "succeeded", result: "done" });
    expect(rows()).toEqual([]);
  });

  test("takes parameters of every kind that means something to the database", async () => {
    const at = new Date(1_790_000_000_123);
    await drained((context) =>
      context.succeedWith([
        insert("bigint", 7n),
        insert("boolean", true),
        insert("date", at),
        insert("json", { a: [1] }),
        insert("null", null),
        insert("undefined", undefined),
        { sql: "update ledger set n = n where id in (';', \"id\") ; -- one statement; and a comment\n ;" },
      ]),
    );
    expect(rows()).toEqual([
      ["bigint", 7],
      ["boolean", 1],
      ["date", at.getTime()],
      ["json", '{"a":[1]}'],
      ["null", 1],
      ["undefined", 1],
    ]);
  });

  test("takes queries of Drizzle", async () => {
    const orm = drizzle(db, { schema: { ledger } });
    await drained((context) =>
      context.succeedWith([orm.insert(ledger).values({ id: "a", n: 3 }), orm.update(ledger).set({ n: 4 })]),
    );
    expect(rows()).toEqual([["a", 4]]);
  });

  test("validates the result against the schema of the task", async () => {
    const checked = defineTask({ name: "a", result: v.object({ ok: v.boolean() }) });
    const { id } = await wadi.submit(checked, null);
    const worker = new Worker(wadi).task(checked, async (context) => {
      const refused = context.succeedWith([insert("a")], { ok: "yes" } as never);
      await expect(refused).rejects.toMatchObject({ name: "TaskError", taskCode: "invalid_result" });
      return context.succeedWith([insert("b")], { ok: true });
    });
    await worker.drain();
    expect(await wadi.get(id)).toMatchObject({ status: "succeeded", result: { ok: true } });
    expect(rows()).toEqual([["b", 1]]);
  });

  test("ends one attempt of a batch alone", async () => {
    const [one, two] = await wadi.submitMany("a", [{ payload: 1 }, { payload: 2 }]);
    const worker = new Worker(wadi).task(
      "a",
      async ([first]: readonly TaskContext[]) => {
        await first!.succeedWith([insert("a")], "by itself");
        return { [one!.id]: "ignored", [two!.id]: "returned" };
      },
      { batch: 2 },
    );
    expect(await worker.drain()).toMatchObject({ succeeded: 2 });
    expect(await wadi.get(one!.id)).toMatchObject({ result: "by itself" });
    expect(await wadi.get(two!.id)).toMatchObject({ result: "returned" });
  });

  test("does not delay a worker that stops while the database does not answer", async () => {
    let sent = () => {};
    const isSent = new Promise<void>((resolve) => {
      sent = resolve;
    });
    const inner = betterSqlite3(db);
    const silent = new Wadi({
      ...inner,
      batch(statements) {
        if (!statements.some(({ sql }) => sql.includes("ledger"))) return inner.batch(statements);
        sent();
        return new Promise(() => {});
      },
    });
    const { id } = await wadi.submit("a", null);
    let thrown: unknown;
    const worker = new Worker(silent).task("a", (context) =>
      context.succeedWith([insert("a")], 1).catch((error) => {
        thrown = error;
        throw error;
      }),
    );
    const running = worker.run();
    await isSent;
    await worker.stop({ graceMs: 0 });
    await running;
    expect(thrown).toMatchObject({ name: "TaskError", taskCode: "handler_timeout" });
    expect(await wadi.get(id)).toMatchObject({ status: "queued" });
    expect(rows()).toEqual([]);
  });

  test("a child that is refused for a lost lease marks the attempt as lost too", async () => {
    const { summary } = await drained(async (context) => {
      clock.advance(600_000);
      await expect(context.submit("child", null)).rejects.toMatchObject({ name: "LostLease" });
      expect(context.lostLease).toBe(true);
    });
    expect(summary).toMatchObject({ lost: 1, succeeded: 0 });
    expect(await wadi.list({ name: "child" })).toEqual([]);
  });
});
