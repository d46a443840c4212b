// Settlements that the database refuses for a while.

import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { Pool } from "pg";
import { describe, expect, test } from "vitest";
import type { ErrorClass } from "../../../src/core/executor.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { libsql } from "../../../src/drivers/libsql.ts";
import { pg } from "../../../src/drivers/pg.ts";
import { type TaskContext, Wadi, Worker, type WorkerOptions } from "../../../src/index.ts";
import { startHranaServer } from "../../../testing/hrana-server.ts";
import { createDatabase } from "../../../testing/postgres.ts";
import { refusing } from "../../../testing/refusing-executor.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { until } from "../../../testing/until.ts";

const QUICK = { requestRetry: { tries: 1 } };
const POLLS: WorkerOptions = { pollMs: 5, maxPollMs: 10 };

/** A Wadi on a real SQLite whose settlements are refused while `state.kind` says so, and one that reads. */
async function refusedWadi() {
  const inner = betterSqlite3(new Database(":memory:"));
  const state = { kind: null as ErrorClass | null, refusals: 0 };
  const executor = refusing(inner, (sql) => {
    if (state.kind === null || !/^\s*(?:update cairnq_tasks|with)/.test(sql)) return null;
    state.refusals++;
    return state.kind;
  });
  const reader = new Wadi(inner);
  await reader.migrate();
  return { state, reader, wadi: new Wadi(executor, QUICK) };
}

const NOT_OF_THE_VALUE: ErrorClass[] = [
  ...(["busy", "unavailable", "denied", "unknown", "rejected", "conflict"] as const),
  ...(["missing-schema", "response-too-large"] as const),
];

describe.each(NOT_OF_THE_VALUE)("a settlement refused as %s", (kind) => {
  test("is kept and sent again: what had finished succeeds, and its attempt is the first", async () => {
    const { state, wadi, reader } = await refusedWadi();
    const tasks = await reader.submitMany("a", [{ payload: 1 }, { payload: 2 }]);
    let calls = 0;
    const worker = new Worker(wadi, POLLS).task("a", async ({ payload }) => {
      if (++calls === 2) state.kind = kind;
      await until(() => calls === 2);
      return payload;
    });
    const running = worker.run();
    await until(() => state.refusals >= 2);
    state.kind = null;
    await until(async () => (await reader.stats()).default!.running === 0);
    await worker.stop();
    expect(await running).toMatchObject({ succeeded: 2, failed: 0, lost: 0 });
    for (const { id } of tasks) {
      expect(await reader.get(id)).toMatchObject({ status: "succeeded", attempt: 1 });
      expect(await reader.failures(id)).toEqual([]);
    }
  });

  test("is kept by a short drain too, within its time", async () => {
    const { state, wadi, reader } = await refusedWadi();
    const { id } = await reader.submit("a", null);
    const onError = () => {
      if (state.refusals > 1) state.kind = null;
    };
    const worker = new Worker(wadi, { onError }).task("a", () => {
      state.kind = kind;
      return "done";
    });
    expect(await worker.drain()).toMatchObject({ succeeded: 1, failed: 0, lost: 0 });
    expect(await reader.get(id)).toMatchObject({ result: "done", attempt: 1 });
  });

  test("fails no task if it only released one that had not started", async () => {
    const { state, wadi, reader } = await refusedWadi();
    await reader.submitMany("a", [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    let calls = 0;
    const options = { ...POLLS, concurrency: 1, prefetch: 5 };
    const worker = new Worker(wadi, options).task("a", async () => {
      calls++;
      await until(() => worker.stats().ready === 2);
      state.kind = kind;
      const stopped = worker.stop({ graceMs: 5000 });
      await until(() => state.refusals > 0);
      state.kind = null;
      void stopped;
    });
    expect(await worker.run()).toMatchObject({ succeeded: 1, released: 2, failed: 0, lost: 0 });
    expect(calls).toBe(1);
    const [one, two] = await reader.list({ status: "queued" });
    expect([one, two]).toMatchObject([
      { attempt: 0, error: null },
      { attempt: 0, error: null },
    ]);
  });
});

test.each(["drain", "run"] as const)(
  "%s fails immediately if the client is closed, and leaves its task to a later recovery",
  async (how) => {
    const { state, wadi, reader } = await refusedWadi();
    const { id } = await reader.submit("a", null);
    const worker = new Worker(wadi, POLLS).task("a", () => {
      state.kind = "unusable";
    });
    await expect(worker[how]()).rejects.toMatchObject({ name: "DriverError", kind: "unusable" });
    expect(state.refusals).toBe(1);
    expect(await reader.get(id)).toMatchObject({ status: "running", error: null });
  },
);

describe("a handler that ends while", () => {
  test.each(["result", "succeedWith"])("SQLite takes no writes for a while succeeds, by %s", async (how) => {
    const db = new Database(":memory:");
    const wadi = new Wadi(betterSqlite3(db));
    db.exec("create table mine (n integer)");
    const { id } = await wadi.submit("a", null);
    const worker = new Worker(wadi).task("a", async ({ succeedWith }) => {
      db.pragma("query_only = on");
      setTimeout(() => db.pragma("query_only = off"), 300);
      if (how === "succeedWith") await succeedWith([{ sql: "insert into mine values (1)" }], "done");
      return "done";
    });
    expect(await worker.drain()).toMatchObject({ succeeded: 1, failed: 0, retried: 0 });
    expect(await wadi.get(id)).toMatchObject({ status: "succeeded", result: "done", attempt: 1 });
    expect(db.prepare("select count(*) as n from mine").get()).toEqual({ n: how === "result" ? 0 : 1 });
  });

  test("Postgres has become read-only, and then serves again, succeeds", async () => {
    const url = await createDatabase();
    const name = new URL(url).pathname.slice(1);
    const admin = new Pool({ connectionString: url, max: 1 });
    const pool = new Pool({ connectionString: url });
    pool.on("error", () => {});
    const readOnly = async (isOn: boolean) => {
      await admin.query("set default_transaction_read_only = off");
      await admin.query(`alter database ${name} set default_transaction_read_only = ${isOn ? "on" : "off"}`);
      const others = "select pid from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()";
      const pids = (await admin.query(others, [name])).rows.map(({ pid }) => pid);
      await admin.query("select pg_terminate_backend(pid) from unnest($1::int[]) as pid", [pids]);
      // A session that has not ended yet would still take the settlement.
      const left = "select pid from pg_stat_activity where pid = any($1::int[])";
      await until(async () => (await admin.query(left, [pids])).rows.length === 0);
    };
    const wadi = new Wadi(pg(pool), QUICK);
    const { id } = await wadi.submit("a", null);
    let isReadOnly = false;
    const errors: unknown[] = [];
    const worker = new Worker(wadi, {
      ...POLLS,
      onError: (error) => isReadOnly && errors.push(error),
    }).task("a", async () => {
      await readOnly(true);
      isReadOnly = true;
      return "done";
    });
    const running = worker.run();
    await until(() => errors.length >= 2);
    await readOnly(false);
    await until(async () => (await wadi.get(id).catch(() => null))?.status === "succeeded");
    await worker.stop();
    await running;
    expect(await wadi.get(id)).toMatchObject({ status: "succeeded", result: "done", attempt: 1 });
    await wadi.close(); // it may have listened again, and a pool waits for the connections it has lent
    await pool.end();
    await admin.end();
  });

  test("libSQL's server refuses the token, and takes it again, succeeds", async () => {
    const { createClient } = await import("@libsql/client");
    const server = await startHranaServer();
    const client = createClient({ url: server.url });
    const wadi = new Wadi(libsql(client), QUICK);
    const { id } = await wadi.submit("a", null);
    let errors = 0;
    const worker = new Worker(wadi, { ...POLLS, onError: () => errors++ }).task("a", () => {
      server.faults.unauthorized = 1;
      return "done";
    });
    const running = worker.run();
    await until(() => errors >= 2);
    server.faults.unauthorized = 0;
    await until(async () => (await wadi.get(id))!.status === "succeeded");
    await worker.stop();
    await running;
    expect(await wadi.get(id)).toMatchObject({ result: "done", attempt: 1 });
    client.close();
    await server.stop();
  });
});

describe.each(pickTargets(["pg", "neon-http"]))("on $name", (target) => {
  test("a value that the database refuses fails its own task, and its neighbours go through", async () => {
    const { executor, close } = await target.open();
    const wadi = new Wadi(executor);
    await wadi.migrate();
    for (const sql of [
      `create function no_sevens() returns trigger language plpgsql as $$ begin
         if new.result = '7' then raise exception 'not a seven' using errcode = '22023'; end if;
         return new; end $$`,
      "create trigger no_sevens before update on cairnq_tasks for each row execute function no_sevens()",
    ])
      await executor.run({ sql, params: [] });
    const tasks = await wadi.submitMany(
      "a",
      Array.from({ length: 20 }, (_, payload) => ({ payload })),
    );
    const worker = new Worker(wadi, { concurrency: 20 }).task("a", async ({ payload }) => payload);
    expect(await worker.drain()).toMatchObject({ claimed: 20, succeeded: 19, failed: 1, lost: 0 });
    expect((await wadi.get(tasks[7]!.id))!.error).toMatchObject({
      type: "DriverError",
      code: "unserializable_result",
      retryable: false,
      details: { cause: { message: "not a seven", code: "22023" } },
    });
    await close();
  });
});

test("an error whose text the database cannot hold keeps its outcome, with a text that it can", async () => {
  const admin = new Pool({ connectionString: await createDatabase() });
  const name = `wadi_${crypto.randomUUID().replaceAll("-", "")}`;
  await admin.query(`create database ${name} encoding 'LATIN1' locale 'C' template template0`);
  const { connectionString } = admin.options;
  const pool = new Pool({ connectionString: connectionString!.replace(/[^/]+$/, name) });
  const wadi = new Wadi(pg(pool));
  const bad = await wadi.submit("bad", null, { maxAttempts: 2 });
  await wadi.submit("good", null);
  const worker = new Worker(wadi, { backoff: { baseMs: 600_000, capMs: 600_000 } })
    .task("bad", async (context: TaskContext) => {
      await pause(1);
      throw new Error(`no 🍋 in attempt ${context.attempt}`);
    })
    .task("good", () => pause(1));
  expect(await worker.drain()).toMatchObject({ succeeded: 1, retried: 1, failed: 0, lost: 0 });
  expect(await wadi.get(bad.id)).toMatchObject({
    status: "queued",
    error: { code: "handler_error", message: "no ? in attempt 1", retryable: true },
  });
  await pool.end();
  await admin.query(`drop database ${name}`);
  await admin.end();
});
