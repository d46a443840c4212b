// Commits of other connections to a SQLite file are noticed.

import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createClient } from "@libsql/client";
import Database from "better-sqlite3";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Executor } from "../../../src/driver.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { libsql } from "../../../src/drivers/libsql.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { until } from "../../../testing/until.ts";
import { UNTIL_NOTIFIED } from "../../../testing/until-notified.ts";

const directory = mkdtempSync(join(tmpdir(), "wadi-data-version-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const NO_POLLS = { pollMs: 600_000, maxPollMs: 600_000 };

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const drivers: Record<string, (file: string, options?: { listen?: boolean }) => Executor> = {
  betterSqlite3(file, options) {
    const db = new Database(file);
    closers.push(() => db.close());
    return betterSqlite3(db, options);
  },
  libsql(file, options) {
    const client = createClient({ url: `file:${file}` });
    closers.push(() => client.close());
    return libsql(client, options);
  },
};

const newFile = () => join(directory, `${crypto.randomUUID()}.db`);

/** Without `database`, so that notifications come only through the file. */
const anonymous = ({ database: _, ...executor }: Executor): Executor => executor;

/** Another process that does what its argument says to the tasks of a file. */
async function inAnotherProcess(file: string, work: "submit" | "drain"): Promise<void> {
  const script = join(import.meta.dirname, "../../../testing/sqlite-process.ts");
  const child = fork(script, [file, work], { stdio: "inherit" });
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
}

/** Counts the commits of other connections that are reported, until `stop` is called. */
async function countReports(executor: Executor) {
  const reports = { count: 0, stop: () => {} };
  reports.stop = await executor.listen!(
    ["a"],
    () => reports.count++,
    () => {},
  );
  return reports;
}

describe.each(Object.keys(drivers))("%s is notified of commits by other connections to its file", (name) => {
  const open = (file: string) => anonymous(drivers[name]!(file));

  test("a submit wakes the worker of another connection, and its success the wait", async () => {
    const file = newFile();
    const mine = new Wadi(open(file));
    const theirs = new Wadi(open(file));
    await mine.migrate();
    const worker = new Worker(theirs, NO_POLLS).task("a", ({ payload }) => payload);
    const running = worker.run();
    await until(() => worker.stats().wakeSource === "listening");
    for (const payload of [1, 2, 3]) expect(await mine.call("a", payload, UNTIL_NOTIFIED)).toBe(payload);
    expect(internalsOf(mine).notifier.doneState).toBe("listening");
    await worker.stop();
    await running;
    await mine.close();
    await theirs.close();
  });

  test("a submit of another process and its success wake them too", async () => {
    const file = newFile();
    const wadi = new Wadi(open(file));
    await wadi.migrate();
    const worker = new Worker(wadi, NO_POLLS).task("a", ({ payload }) => payload);
    const running = worker.run();
    await until(() => worker.stats().wakeSource === "listening");
    await inAnotherProcess(file, "submit");
    await until(() => worker.stats().totals.succeeded === 1);
    await worker.stop();
    await running;
    const { id } = await wadi.submit("a", 2);
    const wait = wadi.wait(id, UNTIL_NOTIFIED);
    await pause(50);
    await inAnotherProcess(file, "drain");
    expect((await wait).result).toBe(2);
    await wadi.close();
  });

  test("its own commits are not reported, and a quiet file costs no polls", async () => {
    const file = newFile();
    const executor = open(file);
    let signals = 0;
    await executor.run({ sql: "create table notes (text text)", params: [] });
    const stop = await executor.listen!(
      ["a", "b"],
      (_channel, payload) => {
        expect(payload).toBeNull();
        signals++;
      },
      () => {},
    );
    for (let i = 0; i < 5; i++) {
      await executor.run({ sql: "insert into notes values ('mine')", params: [] });
      await pause(30);
    }
    expect(signals).toBe(0);
    const other = open(file);
    await other.run({ sql: "insert into notes values ('theirs')", params: [] });
    await until(() => signals === 2);
    stop();
    await other.run({ sql: "insert into notes values ('theirs')", params: [] });
    await pause(100);
    expect(signals).toBe(2);
  });

  test("a writer that never pauses is reported a few times a second", async () => {
    const file = newFile();
    const executor = open(file);
    const other = open(file);
    await other.run({ sql: "create table notes (text text)", params: [] });
    const reports = await countReports(executor);
    const end = performance.now() + 1500;
    while (performance.now() < end) {
      await other.run({ sql: "insert into notes values ('theirs')", params: [] });
      await pause(1);
    }
    reports.stop();
    expect(reports.count).toBeGreaterThan(2);
    expect(reports.count).toBeLessThan(15);
  });

  test("the option `listen` turns it off", () => {
    expect(drivers[name]!(newFile(), { listen: false }).listen).toBeUndefined();
    expect(() => drivers[name]!(newFile(), { listen: "yes" as never })).toThrow("listen of");
  });
});

test("an open transaction of the application on the handle is waited for", async () => {
  const file = newFile();
  const db = new Database(file);
  closers.push(() => db.close());
  const executor = betterSqlite3(db);
  const other = drivers.betterSqlite3!(file);
  await other.run({ sql: "create table notes (text text)", params: [] });
  const reports = await countReports(executor);
  db.exec("begin");
  await other.run({ sql: "insert into notes values ('theirs')", params: [] });
  await pause(80);
  expect(reports.count).toBe(0);
  db.exec("commit");
  await until(() => reports.count === 1);
  reports.stop();
});

test("a handle that was closed ends the subscription with its error, and a database in memory has none", async () => {
  const db = new Database(newFile());
  const lost: unknown[] = [];
  await betterSqlite3(db).listen!(
    ["a"],
    () => {},
    (error) => lost.push(error),
  );
  db.close();
  await until(() => lost.length === 1);
  expect(lost).toEqual([expect.objectContaining({ message: "The database connection is not open" })]);
  expect(betterSqlite3(new Database(":memory:")).listen).toBeUndefined();
});
