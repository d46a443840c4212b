// A full disk under SQLite.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Executor, Statement } from "../../../src/core/executor.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { libsql } from "../../../src/drivers/libsql.ts";

interface Disk {
  readonly executor: Executor;
  /** Pages the database may have; a full disk to SQLite. */
  limit(pages: number): Promise<unknown>;
  close(): void;
}

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "wadi-full-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const disks: Record<string, () => Disk> = {
  "better-sqlite3"() {
    const db = new Database(join(directory, "data.db"));
    return {
      executor: betterSqlite3(db),
      limit: async (pages) => db.pragma(`max_page_count = ${pages}`),
      close: () => db.close(),
    };
  },
  "libsql-file"() {
    const client = createClient({ url: `file:${join(directory, "data.db")}`, concurrency: 1 });
    return {
      executor: libsql(client),
      limit: (pages) => client.execute(`pragma max_page_count = ${pages}`),
      close: () => client.close(),
    };
  },
};

const sql = (text: string, ...params: (string | number)[]): Statement => ({ sql: text, params });
const insert = (id: number, bytes: number) =>
  sql("insert into item values (?, ?) returning id", id, "x".repeat(bytes));

describe.each(Object.keys(disks))("a full disk, on %s", (name) => {
  it("is a busy database without a wait, keeps what was committed, and takes writes once there is space", async () => {
    const { executor, limit, close } = disks[name]!();
    await executor.run(sql("create table item (id integer primary key, body text)"));
    await limit(8);
    const outcomes: unknown[] = [];
    for (let id = 1; id <= 12; id++) {
      // A batch of several statements is undone as a whole.
      const work =
        id % 2 ? executor.run(insert(id, 3000)) : executor.batch([insert(id, 1500), insert(id + 100, 1500)]);
      outcomes.push(
        await work.then(
          () => id,
          (error) => executor.classify(error),
        ),
      );
    }
    const taken = outcomes.filter((outcome) => typeof outcome === "number");
    expect(taken.length).toBeGreaterThan(1);
    expect(new Set(outcomes.filter((outcome) => typeof outcome !== "number"))).toEqual(new Set(["busy"]));
    await expect(executor.run(insert(90, 9000))).rejects.toMatchObject({ code: "SQLITE_FULL" });
    // A small write still fits although a large one fails, also if both are sent in one tick.
    const together = await Promise.allSettled([executor.run(insert(91, 9000)), executor.run(insert(92, 1))]);
    expect(together[0]).toMatchObject({ status: "rejected" });

    await limit(1000);
    await executor.batch([insert(200, 9000), insert(201, 9000)]);
    const rows = await executor.run(sql("select id from item where id < 90 or id > 199 order by id"));
    expect(rows.map(({ id }) => id)).toEqual([...taken, 200, 201]);
    const [check] = await executor.run(sql("pragma integrity_check"));
    expect(Object.values(check!)).toEqual(["ok"]);
    close();
  });
});
