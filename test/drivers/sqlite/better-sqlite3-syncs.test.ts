// Which commits better-sqlite3 syncs to the disk.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type BetterSqlite3Options, betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../../src/index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wadi-syncs-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What `synchronous` was when a status was written, by that status. A trigger may not ask for it. */
async function syncsOfOneTask(options?: BetterSqlite3Options): Promise<Record<string, string[]>> {
  const db = new Database(join(folder, "data.db"));
  let current = "unset";
  for (const method of ["exec", "pragma"] as const) {
    const original = db[method].bind(db) as (sql: string, ...rest: unknown[]) => unknown;
    db[method] = ((sql: string, ...rest: unknown[]) => {
      current = /synchronous = (\w+)/.exec(sql)?.[1] ?? current;
      return original(sql, ...rest);
    }) as never;
  }
  const syncs: Record<string, string[]> = {};
  db.function("noted", (status) => {
    syncs[String(status)] = [...(syncs[String(status)] ?? []), current];
    return null;
  });
  const wadi = new Wadi(betterSqlite3(db, options));
  await wadi.migrate();
  for (const event of ["insert", "update"])
    db.exec(`create trigger on_${event} after ${event} on cairnq_tasks begin select noted(new.status); end`);
  await wadi.submit("a", null);
  await new Worker(wadi).task("a", () => null).drain();
  expect(current).toBe(options?.synchronous ?? "full");
  db.close();
  return syncs;
}

test("a claim alone is not synced, while submits and settlements are", async () => {
  expect(await syncsOfOneTask()).toEqual({ queued: ["full"], running: ["normal"], succeeded: ["full"] });
});

test("every commit is synced under full", async () => {
  const syncs = await syncsOfOneTask({ synchronous: "full" });
  expect(syncs).toEqual({ queued: ["full"], running: ["full"], succeeded: ["full"] });
});

test("every commit is synced as the option says", async () => {
  const syncs = await syncsOfOneTask({ synchronous: "normal" });
  expect(syncs).toEqual({ queued: ["normal"], running: ["normal"], succeeded: ["normal"] });
});
