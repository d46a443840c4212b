// Submits in a transaction of better-sqlite3.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { AlreadyExists, Wadi } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { later } from "./later-task.ts";

describe("in a transaction of better-sqlite3", () => {
  let db: Database.Database;
  let wadi: Wadi<never, true>;

  beforeEach(async () => {
    db = new Database(":memory:");
    wadi = new Wadi(betterSqlite3(db));
    await wadi.migrate();
    db.exec("create table ledger (id text primary key)");
  });
  afterEach(() => db.close());

  const ledger = () => db.prepare("select id from ledger").pluck().all();
  const insert = (id: string) => db.prepare("insert into ledger values (?)").run(id);

  test("a submit returns its task at once, and counts with the commit", async () => {
    const task = db.transaction(() => {
      insert("a");
      return wadi.with(db).submit("mail", { to: "a" });
    })();
    expect(task).toMatchObject({ name: "mail", status: "queued", outcome: "created", payload: { to: "a" } });
    expect(await wadi.get(task.id)).toEqual(expect.objectContaining({ id: task.id }));
    expect(ledger()).toEqual(["a"]);
  });

  test("a throw undoes rows and tasks", async () => {
    const work = db.transaction(() => {
      insert("a");
      wadi.with(db).submitMany("mail", [{ payload: 1 }, { payload: 2, key: "k" }]);
      throw new Error("no");
    });
    expect(() => work()).toThrow("no");
    expect(ledger()).toEqual([]);
    expect(await wadi.list()).toEqual([]);
  });

  test("a key that is taken throws under reject, and undoes the transaction that lets it through", async () => {
    await wadi.submit("mail", 1, { key: "k" });
    const work = db.transaction(() => {
      insert("a");
      wadi.with(db).submit("mail", 2, { key: "k", conflict: "reject" });
    });
    expect(() => work()).toThrow(AlreadyExists);
    expect(ledger()).toEqual([]);
    const kept = db.transaction(() => {
      insert("b");
      return wadi.with(db).submit("mail", 2, { key: "k" });
    })();
    expect(kept).toMatchObject({ outcome: "reused", payload: 1 });
    expect(ledger()).toEqual(["b"]);
  });

  test("cancels count with the commit too", async () => {
    const { id } = await wadi.submit("mail", 1, { key: "k" });
    const undone = db.transaction(() => {
      expect(wadi.with(db).cancelByKey("k")).toMatchObject({ id, status: "canceled" });
      throw new Error("no");
    });
    expect(() => undone()).toThrow("no");
    expect(await wadi.get(id)).toMatchObject({ status: "queued" });
    expect(db.transaction(() => wadi.with(db).cancel(id))()).toMatchObject({ status: "canceled" });
    expect(db.transaction(() => wadi.with(db).cancel("task_none"))()).toBeNull();
    expect(await wadi.get(id)).toMatchObject({ status: "canceled" });
  });

  test("another handle on the same file will do", async () => {
    const directory = mkdtempSync(join(tmpdir(), "wadi-own-"));
    const [one, two] = [0, 1].map(() => new Database(join(directory, "data.db")));
    try {
      const onFile = new Wadi(betterSqlite3(one!, { synchronous: "normal" }));
      await onFile.migrate();
      const { id } = two!.transaction(() => onFile.with(two).submit("mail", 1))();
      expect(await onFile.get(id)).toMatchObject({ status: "queued" });
    } finally {
      one!.close();
      two!.close();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  test("a wrong argument throws immediately with its reason", async () => {
    const refuse = (work: () => unknown) => () => db.transaction(work)();
    expect(() => wadi.with(db)).toThrow(
      "with(tx) found no open transaction of better-sqlite3; begin one first, " +
        "and pass the client or tx it runs on before it ends",
    );
    expect(() => wadi.with(undefined)).toThrow(/found no open transaction/);
    const ended = db.transaction(() => wadi.with(db))();
    expect(() => ended.submit("mail", 1)).toThrow(/found no open transaction/);
    expect(await wadi.list()).toEqual([]);

    expect(refuse(() => wadi.with(db).submit(later, { n: 1 }))).toThrow(
      'the payload schema of "later" is asynchronous, and this transaction is synchronous; use a synchronous schema',
    );
    expect(refuse(() => wadi.with(db).submitMany(later, [{ payload: { n: 0 } }]))).toThrow(/is asynchronous/);
    expect(refuse(() => wadi.with(db).submit("mail", 1, { prio: 1 } as never))).toThrow(/no option "prio"/);
    expect(refuse(() => wadi.with(db).submit("mail", 1n))).toThrow(/a bigint/);
    expect(refuse(() => wadi.with(db).cancel(""))).toThrow(/id must be a non-empty string/);
    expect(await wadi.list()).toEqual([]);
  });

  test("missing tables are named, and the transaction can be undone", () => {
    const empty = new Database(":memory:");
    const fresh = new Wadi(betterSqlite3(empty));
    expect(() => empty.transaction(() => fresh.with(empty).submit("mail", 1))()).toThrow(
      expect.objectContaining({
        name: "DriverError",
        retryable: false,
        message: expect.stringMatching(
          /^submit failed on better-sqlite3: .* run wadi\.migrate\(\) before it$/,
        ),
      }),
    );
    empty.close();
  });

  test("the task is announced to the workers of the same Wadi", async () => {
    const reported: unknown[] = [];
    internalsOf(wadi).notifier.onQueued((queues) => reported.push(queues));
    db.transaction(() => wadi.with(db).submit("mail", 1, { queue: "q" }))();
    expect(reported).toContainEqual(["q"]);
  });
});
