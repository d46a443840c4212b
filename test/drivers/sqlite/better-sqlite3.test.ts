// The driver of better-sqlite3: settings, group commits, errors and transactions.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Executor, Statement } from "../../../src/core/executor.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { countTicks, holdLock } from "../../../testing/hold-lock.ts";

let directory: string;
let path: string;
let db: Database.Database;
let log: string[];
let executor: Executor;

const insert = (id: string): Statement => ({
  sql: "insert into item(id) values (?) returning id",
  params: [id],
});
const select: Statement = { sql: "select id from item order by id", params: [] };
const stored = () => db.prepare("select id from item order by id").pluck().all();
const rejection = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail("expected a rejection"),
    (error: unknown) => error,
  );

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "wadi-test-"));
  path = join(directory, "data.db");
  log = [];
  db = new Database(path, { verbose: (sql) => log.push(String(sql)) });
  db.exec("create table item (id text primary key)");
  executor = betterSqlite3(db);
});
afterEach(() => {
  db.close();
  rmSync(directory, { recursive: true, force: true });
});

describe("settings", () => {
  it("switches a file to the write-ahead log before its first statement, and nothing else", async () => {
    db.pragma("synchronous = full");
    expect(db.pragma("journal_mode", { simple: true })).toBe("delete");
    await executor.run(insert("a"));
    expect(db.pragma("journal_mode", { simple: true })).toBe("wal");
    expect(db.pragma("synchronous", { simple: true })).toBe(2);
    expect(db.pragma("busy_timeout", { simple: true })).toBe(5000);
  });

  it("keeps the journal mode and sets the sync level if the options say so", async () => {
    executor = betterSqlite3(db, { journalMode: "keep", synchronous: "normal" });
    await executor.run(insert("a"));
    expect(db.pragma("journal_mode", { simple: true })).toBe("delete");
    expect(db.pragma("synchronous", { simple: true })).toBe(1);
  });
});

describe("group commit", () => {
  const controls = () => log.filter((sql) => /^(begin|commit|rollback|savepoint|release)/.test(sql));
  beforeEach(async () => {
    await executor.run(select);
    log.length = 0;
  });

  it("runs a single statement without a transaction around it", async () => {
    await executor.run(insert("a"));
    await executor.run(insert("b"));
    expect(controls()).toEqual([]);
    expect(stored()).toEqual(["a", "b"]);
  });

  it("commits what is submitted in one tick once", async () => {
    await Promise.all(Array.from({ length: 64 }, (_, n) => executor.run(insert(`i${n}`))));
    expect(controls()).toEqual(["begin immediate", "commit"]);
    expect(stored()).toHaveLength(64);
  });

  it("commits what 64 independent loops submit together, round after round", async () => {
    const loop = async (id: number) => {
      for (let n = 0; n < 10; n++) await executor.run(insert(`${id}-${n}`));
    };
    await Promise.all(Array.from({ length: 64 }, (_, id) => loop(id)));
    expect(controls()).toHaveLength(2 * 10);
    expect(stored()).toHaveLength(640);
  });

  it("sets a savepoint only around members of several statements", async () => {
    await Promise.all([executor.run(insert("a")), executor.batch([insert("b"), insert("c")])]);
    expect(controls()).toEqual(["begin immediate", "savepoint wadi", "release wadi", "commit"]);
    log.length = 0;
    await executor.batch([insert("d"), insert("e")]);
    expect(controls()).toEqual(["begin immediate", "commit"]);
  });

  it("keeps reads out of the write transaction, and batches of reads in a snapshot", async () => {
    await Promise.all([executor.run(select), executor.run(select)]);
    expect(controls()).toEqual([]);
    await executor.batch([select, select]);
    expect(controls()).toEqual(["begin", "commit"]);
  });

  it("ends a group at 1000 statements and lets timers run between groups", async () => {
    const { ticks } = await countTicks(() =>
      Promise.all(Array.from({ length: 20_500 }, (_, n) => executor.run(insert(`i${n}`)))),
    );
    expect(controls().filter((sql) => sql === "commit")).toHaveLength(21);
    expect(ticks).toBeGreaterThan(2);
    expect(stored()).toHaveLength(20_500);
  });

  it("fails every member when the commit fails, and stays usable", async () => {
    db.exec("create table child (id text references item(id) deferrable initially deferred)");
    const orphan: Statement = { sql: "insert into child values ('no parent')", params: [] };
    const settled = await Promise.allSettled([executor.run(insert("a")), executor.run(orphan)]);
    for (const outcome of settled) {
      expect(outcome.status).toBe("rejected");
      expect(executor.classify((outcome as PromiseRejectedResult).reason)).toBe("conflict");
    }
    expect(stored()).toEqual([]);
    await executor.batch([insert("b"), insert("c")]);
    expect(stored()).toEqual(["b", "c"]);
  });

  it("fails every member when one rolls the whole transaction back", async () => {
    await executor.run(insert("taken"));
    const hard: Statement = { sql: "insert or rollback into item(id) values ('taken')", params: [] };
    const work = [executor.run(insert("a")), executor.run(hard), executor.batch([insert("b"), insert("c")])];
    const settled = await Promise.allSettled(work);
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(stored()).toEqual(["taken"]);
    expect(await executor.run(insert("later"))).toHaveLength(1);
  });
});

describe("locks", () => {
  const works: [string, () => Promise<unknown>][] = [
    ["one statement", () => executor.run(insert("a"))],
    ["a batch", () => executor.batch([insert("a"), insert("b")])],
    ["a group", () => Promise.all([executor.run(insert("a")), executor.run(insert("b"))])],
    ["a transaction", () => executor.transaction!((tx) => tx.run(insert("a")))],
  ];
  beforeEach(() => executor.run(select));

  it.each(works)("waits for another process with %s and does not block the event loop", async (_, work) => {
    const { released } = await holdLock(path, 700);
    const { ticks, ms } = await countTicks(work);
    expect(ms).toBeGreaterThan(400);
    expect(ticks).toBeGreaterThan(ms / 10 / 3);
    expect(stored()).toContain("a");
    expect(db.pragma("busy_timeout", { simple: true })).toBe(5000);
    await released;
  });

  it.each(works)("gives up %s as busy after the timeout, with nothing written", async (_, work) => {
    executor = betterSqlite3(db, { busyTimeoutMs: 60 });
    const { released } = await holdLock(path, 400);
    const error = await rejection(work());
    expect(executor.classify(error)).toBe("busy");
    expect(stored()).toEqual([]);
    await released;
    await work();
    expect(stored()).toContain("a");
  });

  it("reads while another process holds the write lock and a write waits for it", async () => {
    const { released } = await holdLock(path, 300);
    let isWritten = false;
    const write = executor.run(insert("a")).then(() => {
      isWritten = true;
    });
    expect(await executor.run(select)).toEqual([]);
    expect(isWritten).toBe(false);
    await Promise.all([write, released]);
    expect(await executor.run(select)).toEqual([{ id: "a" }]);
  });

  it("waits for an open transaction of the application instead of joining it", async () => {
    db.exec("begin; insert into item values ('owner')");
    const work = executor.run(insert("mine"));
    await new Promise((resolve) => setTimeout(resolve, 20));
    db.exec("rollback");
    await work;
    expect(stored()).toEqual(["mine"]);
  });

  it.each(works)("gives up %s, and never ends the transaction of the application", async (_, work) => {
    executor = betterSqlite3(db, { busyTimeoutMs: 20 });
    db.exec("begin; insert into item values ('owner')");
    const error = await rejection(work());
    expect(executor.classify(error)).toBe("busy");
    expect(String(error)).toContain("the application has not ended");
    expect(db.inTransaction).toBe(true);
    db.exec("commit");
    expect(stored()).toEqual(["owner"]);
  });
});

describe("transaction()", () => {
  it("commits what it did and returns the result, while others wait for its end", async () => {
    const order: string[] = [];
    let other: Promise<unknown> | undefined;
    const result = await executor.transaction!(async (tx) => {
      await tx.run(insert("a"));
      other = executor.run(select).then((rows) => order.push(`other sees ${rows.length}`));
      await new Promise((resolve) => setTimeout(resolve, 20));
      await tx.batch([insert("b"), insert("c")]);
      order.push("end");
      return (await tx.run(select)).length;
    });
    await other;
    expect(result).toBe(3);
    expect(order).toEqual(["end", "other sees 3"]);
  });

  it("may take longer than the others would wait for a lock", async () => {
    executor = betterSqlite3(db, { busyTimeoutMs: 10 });
    let other: Promise<unknown> | undefined;
    await executor.transaction!(async (tx) => {
      other = executor.run(insert("other"));
      await new Promise((resolve) => setTimeout(resolve, 60));
      await tx.run(insert("a"));
    });
    await other;
    expect(stored()).toEqual(["a", "other"]);
  });

  it("rolls back its work, and only that, when the function throws", async () => {
    let other: Promise<unknown> | undefined;
    const work = executor.transaction!(async (tx) => {
      await tx.run(insert("a"));
      other = executor.run(insert("other"));
      throw new Error("changed my mind");
    });
    await expect(work).rejects.toThrow("changed my mind");
    await other;
    expect(stored()).toEqual(["other"]);
  });

  it("continues after a failed batch, and fails after its end", async () => {
    const tx = await executor.transaction!(async (inner) => {
      await rejection(inner.batch([insert("a"), insert("a")]));
      await inner.run(insert("b"));
      return inner;
    });
    expect(stored()).toEqual(["b"]);
    await expect(tx.run(insert("c"))).rejects.toThrow("has ended");
  });
});

describe("classify", () => {
  it("knows a closed handle, a read-only one and a file that is no database", async () => {
    await executor.run(insert("a"));
    const readonly = new Database(path, { readonly: true });
    const reader = betterSqlite3(readonly, { journalMode: "keep" });
    expect(await reader.run(select)).toEqual([{ id: "a" }]);
    expect(reader.classify(await rejection(reader.run(insert("b"))))).toBe("denied");
    readonly.close();
    expect(reader.classify(await rejection(reader.run(select)))).toBe("unusable");

    writeFileSync(join(directory, "text.db"), "no database at all, ".repeat(100));
    const text = new Database(join(directory, "text.db"));
    const broken = betterSqlite3(text);
    expect(broken.classify(await rejection(broken.run(select)))).toBe("rejected");
    text.close();
  });

  it.each([
    ["SQLITE_BUSY_SNAPSHOT", "busy"],
    ["SQLITE_LOCKED_SHAREDCACHE", "busy"],
    ["SQLITE_CONSTRAINT_TRIGGER", "conflict"],
    ["SQLITE_CANTOPEN_ISDIR", "unavailable"],
    ["SQLITE_FULL", "busy"],
    ["SQLITE_IOERR_FSYNC", "unknown"],
    ["SQLITE_NOMEM", "busy"],
    ["SQLITE_INTERRUPT", "busy"],
    ["SQLITE_READONLY_DBMOVED", "denied"],
    ["SQLITE_TOOBIG", "invalid-value"],
    ["SQLITE_MISMATCH", "invalid-value"],
    ["SQLITE_CORRUPT", "rejected"],
  ])("takes %s as %s", (code, expected) => {
    expect(executor.classify(Object.assign(new Error("x"), { code }))).toBe(expected);
  });

  it("refuses a wrong number of parameters", async () => {
    expect(executor.classify(await rejection(executor.run({ ...select, params: [1] })))).toBe("rejected");
  });
});

it("waits for what was submitted when it is closed", async () => {
  const work = Array.from({ length: 2500 }, (_, n) => executor.run(insert(`i${n}`)));
  await executor.close();
  expect(stored()).toHaveLength(2500);
  await Promise.all(work);
});
