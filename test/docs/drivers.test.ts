// The page on the drivers has their limits and capabilities.

import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { Pool } from "pg";
import { expect, test } from "vitest";
import type { Executor } from "../../src/driver.ts";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { type D1Like, d1 } from "../../src/drivers/d1.ts";
import { type DurableObjectStorageLike, durableObject } from "../../src/drivers/durable-object.ts";
import { type LibsqlClientLike, libsql } from "../../src/drivers/libsql.ts";
import { type NeonQueryFunctionLike, neonHttp } from "../../src/drivers/neon.ts";
import { pg } from "../../src/drivers/pg.ts";
import { type PgliteLike, pglite } from "../../src/drivers/pglite.ts";
import { offlineClient } from "../../testing/offline-client.ts";

const page = readFileSync("docs/drivers.md", "utf8");

/** Executors of clients that nothing is sent to. */
const EXECUTORS: Record<string, Executor> = {
  betterSqlite3: betterSqlite3(new Database(":memory:")),
  "libsql (file)": libsql(offlineClient<LibsqlClientLike>({ protocol: "file" })),
  "libsql (server)": libsql(offlineClient<LibsqlClientLike>({ protocol: "https" })),
  d1: d1(offlineClient<D1Like>()),
  durableObject: durableObject(offlineClient<DurableObjectStorageLike>()),
  pg: pg(new Pool()),
  neonHttp: neonHttp(offlineClient<NeonQueryFunctionLike>()),
  pglite: pglite(offlineClient<PgliteLike>()),
};

test("the limits on the page are those of the drivers", () => {
  const rows = [
    ...page.matchAll(/^\| `(\w+)`(?: (\(\w+\)))? \| (\d+) \| (\d+) \| (\S+) \| (\S+) \| (\S+) \|$/gm),
  ];
  const listed = rows.map(([, name, kind, bytes, statements, queries, response, request]) => [
    kind === undefined ? name : `${name} ${kind}`,
    {
      maxParamBytes: Number(bytes),
      maxBatchStatements: Number(statements),
      ...(queries === "–" ? {} : { maxQueries: Number(queries) }),
      ...(response === "–" ? {} : { maxResponseBytes: Number(response) }),
      ...(request === "–" ? {} : { maxRequestBytes: Number(request) }),
    },
  ]);
  const limits = Object.entries(EXECUTORS).map(([name, executor]) => [name, executor.limits]);
  expect(listed).toEqual(limits);
});

test("the capabilities on the page are those of the drivers", () => {
  const [pool, one] = [pg(new Pool()), pg(new Pool({ max: 1 }))];
  expect([pool.listen, pool.transaction, one.listen].map((member) => member !== undefined)).toEqual([
    true,
    true,
    false,
  ]);
  const able = Object.entries(EXECUTORS).filter(([, executor]) => executor.transaction !== undefined);
  expect(able.map(([name]) => name)).toEqual(["betterSqlite3", "pg", "pglite"]);
  const table = (row: string) =>
    page
      .split("\n")
      .find((line) => line.includes(row))!
      .split("|")
      .slice(2, -1);
  const answers = (row: string) => table(row).map((cell) => cell.trim().startsWith("yes"));
  const listed = Object.entries(EXECUTORS).filter(([name]) => name !== "libsql (server)");
  expect(answers("`wadi.statements`")).toEqual(listed.map(([, { native }]) => native !== undefined));
  expect(answers("`wadi.with(tx)`")).toEqual(listed.map(([, { within }]) => within !== undefined));
  const listening = Object.entries(EXECUTORS).filter(([, executor]) => executor.listen !== undefined);
  expect(listening.map(([name]) => name)).toEqual(["libsql (file)", "pg", "pglite"]); // better-sqlite3 is in memory
});
