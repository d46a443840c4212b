// The driver of Neon over HTTP.

import { neon } from "@neondatabase/serverless";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Executor } from "../../../src/core/executor.ts";
import { neonHttp } from "../../../src/drivers/neon.ts";
import { testExecutor } from "../../../testing/driver-contract.ts";
import { type NeonEndpoint, startNeonEndpoint } from "../../../testing/neon-endpoint.ts";
import { type Fault, fraction, nth } from "../../../testing/neon-faults.ts";
import { failure, failureClass, sql } from "../../../testing/pg-fixture.ts";
import { createDatabase } from "../../../testing/postgres.ts";
import { untilOneWaitsForALock } from "../../../testing/postgres-activity.ts";
import { neonHttp as target } from "../../../testing/targets/neon-http.ts";
import { startTcpProxy } from "../../../testing/tcp-proxy.ts";
import { until } from "../../../testing/until.ts";

testExecutor(target);

let endpoint: NeonEndpoint;
let admin: Client;
let executor: Executor;

const insert = (id: number) => sql("insert into item values ($1) returning id", id);
const stored = async () => (await admin.query("select id from item order by id")).rows.map(({ id }) => id);
const failNext = (when: Fault["when"], answer: Fault["answer"]) => {
  endpoint.faults.plan = nth(1, { when, answer });
};

beforeAll(async () => {
  const postgresUrl = await createDatabase();
  admin = new Client(postgresUrl);
  await admin.connect();
  const { pathname } = new URL(postgresUrl);
  await admin.query("create table item (id int primary key)");
  await admin.query(
    `alter database ${pathname.slice(1)} set default_transaction_isolation = 'repeatable read'`,
  );
  endpoint = await startNeonEndpoint({ postgresUrl });
  executor = neonHttp(neon(endpoint.connectionString));
});
beforeEach(async () => {
  endpoint.faults.plan = undefined;
  await admin.query("truncate item");
});
afterAll(async () => {
  await endpoint.stop();
  await admin.end();
});

describe("neon-http", () => {
  it("sends one request for a run and one for a batch, and each statement once", async () => {
    const before = endpoint.requests;
    const spent: number[] = [];
    for (let i = 0; i < 2; i++) {
      await executor.run(insert(i));
      spent.push(endpoint.requests - before);
      await executor.batch([insert(10 + i), insert(20 + i), sql("select count(*) from item")]);
      spent.push(endpoint.requests - before);
    }
    await executor.batch([]);
    expect(spent).toEqual([1, 2, 3, 4]);
    expect(await stored()).toEqual([0, 1, 10, 11, 20, 21]);
  });

  it("returns rows of text whatever the options of the client are", async () => {
    const odd = neonHttp(neon(endpoint.connectionString, { arrayMode: true, fullResults: true }));
    const statement = sql(
      "select $1::int as i, $2::text as n, now() > 'epoch' as b, '[1]'::jsonb as j",
      7,
      null,
    );
    const rows = [{ i: "7", n: null, b: "t", j: "[1]" }];
    expect(await odd.run(statement)).toEqual(rows);
    expect(await odd.batch([statement, statement])).toEqual([rows, rows]);
  });

  it("is READ COMMITTED in batches: after a lock it sees what was committed while it waited", async () => {
    await admin.query("begin; select pg_advisory_xact_lock(7); insert into item values (1)");
    const waiting = executor.batch([
      sql("show transaction_isolation"),
      sql("select pg_advisory_xact_lock(7)"),
      sql("select count(*) as n from item"),
    ]);
    await untilOneWaitsForALock(admin);
    await admin.query("commit");
    expect(await waiting).toEqual([
      [{ transaction_isolation: "read committed" }],
      [{ pg_advisory_xact_lock: "" }],
      [{ n: "1" }],
    ]);
  });

  it("takes a parameter of its largest size, even if every character is escaped on the way", async () => {
    const text = '"'.repeat(executor.limits.maxParamBytes);
    const rows = await executor.run(sql("select length($1::text) as n", text));
    expect(rows).toEqual([{ n: String(text.length) }]);
  });
});

describe("a failed request", () => {
  it.each([
    ["conflict", "insert into item values (1), (1)"],
    ["missing-schema", "select * from nowhere"],
    ["missing-schema", "select nothing from item"],
    ["rejected", "selekt 1"],
    ["rejected", "select 1; select 2"],
    ["invalid-value", "select '{'::jsonb"],
    ["invalid-value", "select repeat('x', 2000000000)"],
  ])("is %s if Postgres says so: %s", async (expected, text) => {
    expect(await failureClass(executor, executor.run(sql(text)))).toBe(expected);
    expect(await failureClass(executor, executor.batch([insert(5), sql(text)]))).toBe(expected);
    expect(await stored()).toEqual([]);
  });

  it.each([
    ["unknown", "drop"],
    ["unknown", { status: 400 }], // a connection lost behind the proxy: no SQLSTATE
    ["unknown", { status: 500 }],
    ["unknown", { status: 502, body: "<html>" }],
    ["unknown", { status: 200, body: '{"fields":[],"rows"' }],
  ] as const)("is %s if its answer was lost after the commit: %j", async (expected, answer) => {
    failNext("after", answer);
    expect(await failureClass(executor, executor.batch([insert(1), insert(2)]))).toBe(expected);
    expect(await stored()).toEqual([1, 2]);
  });

  it.each([
    ["unknown", "drop"],
    ["unknown", { status: 503, body: '{"msg":"later"}' }],
    ["busy", { status: 429, body: '{"msg":"too many requests"}' }],
    ["busy", { status: 402, body: '{"msg":"payment required"}' }],
    ["busy", { status: 400, body: '{"message":"Your project has exceeded the data transfer quota."}' }],
    ["denied", { status: 401, body: '{"msg":"who?"}' }],
    ["denied", { status: 403, body: '{"msg":"no"}' }],
    ["denied", { status: 404, body: '{"msg":"no such endpoint"}' }],
  ] as const)("is %s if it never reached the database: %j", async (expected, answer) => {
    failNext("before", answer);
    expect(await failureClass(executor, executor.batch([insert(1)]))).toBe(expected);
    expect(await stored()).toEqual([]);
  });

  it("is too large an answer, which is not sent again: a single statement was committed by then", async () => {
    const large = sql("with w as (insert into item values (1)) select repeat('x', 11000000) as x");
    expect((await failure(executor.run(large))).message).toMatch(/507/);
    expect(await failureClass(executor, executor.run(sql(large.sql.replace("(1)", "(2)"))))).toBe(
      "response-too-large",
    );
    expect(await stored()).toEqual([1, 2]);
  });

  it("is for its value if the request itself is too large, and denied with a wrong password", async () => {
    const large = sql("select length($1::text)", "x".repeat(11_000_000));
    expect(await failureClass(executor, executor.run(large))).toBe("invalid-value");
    const stranger = neonHttp(neon(endpoint.connectionString.replace(":password@", ":wrong@")));
    expect(await failureClass(stranger, stranger.run(insert(1)))).toBe("denied");
  });

  it("is unavailable if there is no server", async () => {
    const gone = await startTcpProxy({ port: 1 });
    await gone.stop();
    for (const host of [`127.0.0.1:${gone.port}`, "nowhere.invalid:8080"]) {
      const away = neonHttp(neon(`postgres://postgres:password@${host}/db`));
      expect(await failureClass(away, away.run(insert(1)))).toBe("unavailable");
    }
  });

  it("ends with the signal of its caller, alone and in a batch", async () => {
    const sleep = "select pg_sleep(50)";
    const patience = new AbortController();
    const options = { signal: patience.signal };
    const left = [executor.run(sql(sleep), options), executor.batch([insert(1), sql(sleep)], options)].map(
      (work) => failureClass(executor, work),
    );
    const running =
      "from pg_stat_activity where datname = current_database() and state = 'active' and query = $1";
    await until(async () => (await admin.query(`select 1 ${running}`, [sleep])).rowCount === 2);
    patience.abort();
    expect(await Promise.all(left)).toEqual(["unknown", "unknown"]);
    await admin.query(`select pg_terminate_backend(pid) ${running}`, [sleep]);
  });

  it("is unknown if the backend was ended under it", async () => {
    const sleep = "select pg_sleep(60)";
    const lost = failureClass(executor, executor.batch([insert(1), sql(sleep)]));
    const kill =
      "select pg_terminate_backend(pid) from pg_stat_activity " +
      "where datname = current_database() and state = 'active' and query = $1";
    await until(async () => (await admin.query(kill, [sleep])).rowCount === 1);
    expect(await lost).toBe("unknown");
    expect(await executor.run(sql("select count(*) as n from item"))).toEqual([{ n: "0" }]);
  });

  it("can be sent again until it gets through: with 40 % lost each row is there once", async () => {
    endpoint.faults.plan = fraction(0.4, 7, { when: "after", answer: "drop" });
    let failures = 0;
    for (let id = 0; id < 20; id++) {
      const write = sql("insert into item values ($1) on conflict do nothing", id);
      const attempt = () =>
        executor.batch([write]).then(
          () => true,
          () => failures++ < 0,
        );
      await until(attempt);
    }
    expect(await stored()).toEqual(Array.from({ length: 20 }, (_, id) => id));
    expect(failures).toBeGreaterThan(5);
  });
});
