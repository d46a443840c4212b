// The driver of libSQL, on a file and over HTTP.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@libsql/client";
import { createClient as createWebClient } from "@libsql/client/web";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Executor, Statement } from "../../../src/core/executor.ts";
import { libsql } from "../../../src/drivers/libsql.ts";
import { countTicks, holdLock } from "../../../testing/hold-lock.ts";
import { type HranaServer, startHranaServer } from "../../../testing/hrana-server.ts";

let client: Client;
let executor: Executor;

const insert = (id: string): Statement => ({
  sql: "insert into item(id) values (?) returning id",
  params: [id],
});
const select: Statement = { sql: "select id from item order by id", params: [] };
const stored = async () => (await client.execute(select.sql)).rows.map(({ id }) => id);
const rejection = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail("expected a rejection"),
    (error: unknown) => error,
  );

afterEach(() => client.close());

describe("a file", () => {
  let directory: string;
  let path: string;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "wadi-test-"));
    path = join(directory, "data.db");
    client = createClient({ url: `file:${path}` });
    executor = libsql(client);
    await executor.run({ sql: "create table item (id text primary key)", params: [] });
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it("is switched to the write-ahead log, unless journalMode is keep", async () => {
    const mode = async () => (await client.execute("pragma journal_mode")).rows[0]?.journal_mode;
    expect(await mode()).toBe("wal");
    await client.execute("pragma journal_mode = delete");
    await libsql(client, { journalMode: "keep" }).run(select);
    expect(await mode()).toBe("delete");
  });

  it("enforces foreign keys", async () => {
    expect((await client.execute("pragma foreign_keys")).rows[0]?.foreign_keys).toBe(1);
  });

  const works: [string, () => Promise<unknown>][] = [
    ["one statement", () => executor.run(insert("a"))],
    ["a batch", () => executor.batch([insert("a"), insert("b")])],
    [
      "many calls",
      () =>
        Promise.all(
          Array.from("abcdefghij", (id) => [
            executor.run(insert(id)),
            executor.batch([insert(`${id}2`)]),
          ]).flat(),
        ),
    ],
  ];

  it.each(works)("waits for another process with %s and does not block the event loop", async (_, work) => {
    const { released } = await holdLock(path, 700);
    const { ticks, ms } = await countTicks(work);
    expect(ms).toBeGreaterThan(400);
    expect(ticks).toBeGreaterThan(ms / 10 / 3);
    expect(await stored()).toContain("a");
    await released;
  });

  it.each(works)("leaves a client that commits batches after %s met a lock", async (_, work) => {
    const { released } = await holdLock(path, 100);
    await work();
    await client.batch(["insert into item values ('mine')"], "write");
    expect(await stored()).toContain("mine");
    await released;
  });

  it.each(works)("gives up %s as busy after the timeout, and recovers", async (_, work) => {
    executor = libsql(client, { busyTimeoutMs: 60 });
    const { released } = await holdLock(path, 400);
    expect(executor.classify(await rejection(work()))).toBe("busy");
    await released;
    expect(await stored()).toEqual([]);
    await work();
    expect(await stored()).toContain("a");
  });

  it("once it met a lock, tests the next ones without leaving a statement behind, and reads do not test", async () => {
    const calls: string[] = [];
    const note = <K extends "batch" | "reconnect">(name: K) => {
      const call = client[name].bind(client) as (...args: unknown[]) => never;
      client[name] = ((...args: unknown[]) => {
        calls.push(name);
        return call(...args);
      }) as Client[K];
    };
    note("batch");
    note("reconnect");
    for (const id of ["a", "b"]) {
      const { released } = await holdLock(path, 200);
      const write = executor.run(insert(id));
      if (id === "b") expect(await executor.run(select)).toHaveLength(1);
      await write;
      await released;
    }
    // What met the first lock, what the cure was for, the read, and the write that waited without a try.
    expect([calls[0], calls.filter((call) => call === "reconnect").length]).toEqual(["batch", 1]);
    expect(calls.filter((call) => call === "batch")).toHaveLength(4);
  });

  it("commits what it reports as written, also after a call of the application met a lock", async () => {
    const { released } = await holdLock(path, 100);
    expect(String(await rejection(client.execute("insert into item values ('owner')")))).toContain("locked");
    await released;
    await executor.run(insert("a"));
    const other = createClient({ url: `file:${path}` });
    expect((await other.execute(select.sql)).rows).toHaveLength(1);
    other.close();
  });

  it("fails none of its calls when it reconnects", async () => {
    const hasty = libsql(client, { busyTimeoutMs: 0 });
    const { released } = await holdLock(path, 100);
    await rejection(hasty.run(insert("early")));
    await released;
    const work: Promise<unknown>[] = [];
    for (let n = 0; n < 30; n++) {
      work.push(hasty.run(insert(`n${n}`)));
      await undefined; // so that no two calls are at the same step
    }
    await Promise.all(work);
    expect(await stored()).toHaveLength(30);
  });

  it("waits for a transaction of the application without ending it", async () => {
    const transaction = await client.transaction("write");
    await transaction.execute("insert into item values ('owner')");
    const work = Promise.all([executor.run(insert("a")), executor.batch([insert("b"), insert("c")])]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await transaction.commit();
    await work;
    expect(await stored()).toEqual(["a", "b", "c", "owner"]);
  });
});

it("keeps an in-memory database", async () => {
  client = createClient({ url: ":memory:" });
  executor = libsql(client);
  await executor.run({ sql: "create table item (id text primary key)", params: [] });
  await executor.batch([insert("a"), insert("b")]);
  expect(await executor.run(select)).toEqual([{ id: "a" }, { id: "b" }]);
  expect((await client.execute("pragma foreign_keys")).rows[0]?.foreign_keys).toBe(1);
});

it("keeps an in-memory database while a transaction of the application has the only connection", async () => {
  client = createClient({ url: ":memory:" });
  executor = libsql(client);
  await executor.run({ sql: "create table item (id text primary key)", params: [] });
  const transaction = await client.transaction("write");
  await transaction.execute("insert into item values ('owner')");
  const work = executor.batch([insert("a"), insert("b")]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await transaction.commit();
  await work;
  expect(await stored()).toEqual(["a", "b", "owner"]);
});

it("turns big integers into numbers, or digits where a number would lose some", async () => {
  client = createClient({ url: ":memory:", intMode: "bigint" });
  const sql = "select 1790000000123 as clock, 9007199254740993 as large, null as nil";
  expect(await libsql(client).run({ sql, params: [] })).toEqual([
    { clock: 1790000000123, large: "9007199254740993", nil: null },
  ]);
});

describe("a server", () => {
  let server: HranaServer;

  beforeEach(async () => {
    server = await startHranaServer();
    client = createClient({ url: server.url });
    executor = libsql(client);
    await executor.run({ sql: "create table item (id text primary key)", params: [] });
  });
  afterEach(() => server.stop());

  it("answers the web build of the client as well", async () => {
    const web = createWebClient({ url: server.url });
    await libsql(web).batch([insert("a"), insert("b")]);
    expect(await libsql(web).run(select)).toEqual([{ id: "a" }, { id: "b" }]);
    web.close();
  });

  it("does not know the outcome when the response is lost, and it may be committed", async () => {
    server.faults.dropAfter = 1;
    expect(executor.classify(await rejection(executor.run(insert("a"))))).toBe("unknown");
    expect(executor.classify(await rejection(executor.batch([insert("b"), insert("c")])))).toBe("unknown");
    server.faults.dropAfter = 0;
    expect(await stored()).toEqual(["a", "b", "c"]);
  });

  it.each([
    ["dropBefore", "unknown"],
    ["serverError", "unknown"],
    ["unauthorized", "denied"],
    ["streamExpired", "busy"],
  ] as const)("takes %s as %s, with nothing written", async (fault, expected) => {
    server.faults[fault] = [server.requests + 1, server.requests + 2];
    expect(executor.classify(await rejection(executor.run(insert("a"))))).toBe(expected);
    expect(executor.classify(await rejection(executor.batch([insert("b"), insert("c")])))).toBe(expected);
    expect(await stored()).toEqual([]);
  });

  it("is unavailable when nothing listens, or the name does not resolve", async () => {
    const away = await startHranaServer();
    await away.stop();
    for (const url of [away.url, "http://nowhere.invalid:8080"]) {
      const lost = createClient({ url });
      expect(executor.classify(await rejection(libsql(lost).run(select)))).toBe("unavailable");
      lost.close();
    }
  });

  it("lets a writer wait for the one before it, and refuses a stream that was idle for too long", async () => {
    const transaction = await client.transaction("write");
    await transaction.execute("insert into item values ('owner')");
    const work = executor.batch([insert("a")]);
    await transaction.commit();
    await work;
    expect(await stored()).toEqual(["a", "owner"]);

    const hasty = await startHranaServer({ streamExpiryMs: 20 });
    const other = createClient({ url: hasty.url });
    const idle = await other.transaction("write");
    await idle.execute("create table item (id text primary key)");
    await new Promise((resolve) => setTimeout(resolve, 60));
    const error = await rejection(idle.execute("select 1"));
    expect(error).toMatchObject({ code: "STREAM_EXPIRED" });
    expect(executor.classify(error)).toBe("busy");
    await expect(other.execute("select * from item")).rejects.toThrow("no such table");
    other.close();
    await hasty.stop();
  });

  it.each([
    ["TRANSACTION_TIMEOUT", "busy"],
    ["SQLITE_BUSY", "busy"],
    ["BLOCKED", "denied"],
    ["SQL_MANY_STATEMENTS", "rejected"],
    ["PROXY_ERROR", "unknown"],
    ["RESPONSE_TOO_LARGE", "response-too-large"],
    ["HRANA_PROTO_ERROR", "unknown"],
    ["CLIENT_CLOSED", "unusable"],
  ])("takes the code %s as %s", (code, expected) => {
    expect(executor.classify(Object.assign(new Error("x"), { code }))).toBe(expected);
  });

  it.each([
    [401, "denied"],
    [402, "busy"],
    [403, "denied"],
    [404, "denied"],
    [413, "invalid-value"],
    [429, "busy"],
    [418, "rejected"],
    [502, "unknown"],
  ])("takes the status %i without a code as %s", (status, expected) => {
    const error = Object.assign(new Error("x", { cause: { status } }), { code: "SERVER_ERROR" });
    expect(executor.classify(error)).toBe(expected);
  });
});
