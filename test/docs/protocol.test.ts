// The page of the protocol lists every statement, column and index.

import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { memoryWadi } from "../../testing/memory.ts";

const text = readFileSync("protocol/PROTOCOL.md", "utf8");

/** What stands in backticks anywhere on the page. */
const words = new Set([...text.matchAll(/`([^`\n]+)`/g)].map(([, word]) => word));
const section = (title: string) => text.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? "";

async function names(sql: string): Promise<unknown[]> {
  const wadi = memoryWadi();
  await wadi.migrate({ mixedFleet: true });
  return (await wadi.executor.run({ sql, params: [] })).map(({ name }) => name);
}

test("every statement is part of an operation on the page, and none that does not exist", () => {
  const files = globSync("protocol/statements/*/*.sql").map((file) => basename(file, ".sql"));
  const statements = new Set(files);
  expect([...statements].filter((name) => !words.has(name))).toEqual([]);
  const named = [...section("Operations").matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name]) => name!);
  expect(named.filter((name) => !statements.has(name) && !name.endsWith("_ms"))).toEqual([]);
});

test("every column and every index of the tasks and keys is on the page", async () => {
  const columns = await names("select name from pragma_table_info('cairnq_tasks')");
  const rows = section("Tables")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const listed = rows.flatMap((line) =>
    [...line.split("|")[1]!.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(listed.sort()).toEqual(columns.sort());
  const indexes = await names("select name from sqlite_master where type = 'index' and sql is not null");
  expect(indexes.length).toBeGreaterThan(5);
  expect(indexes.filter((name) => !text.includes(String(name)))).toEqual([]);
});

test("the page stays short", () => {
  expect(text.split("\n").length).toBeLessThan(320);
});
