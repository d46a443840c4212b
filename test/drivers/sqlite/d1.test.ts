// The driver of D1: classes of errors, and the rows it counts.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Executor } from "../../../src/core/executor.ts";
import { d1 } from "../../../src/drivers/d1.ts";
import { type OpenD1, openD1 } from "../../../testing/d1.ts";

let database: OpenD1;
let executor: Executor;

const statement = (sql: string, ...params: (string | number | null)[]) => ({ sql, params });

beforeAll(async () => {
  database = await openD1();
  executor = d1(database.binding);
}, 60_000);
afterAll(() => database.close());

describe("classify", () => {
  it.each([
    ["D1_ERROR: D1 DB is overloaded. Requests queued for too long.", "busy"],
    ["D1_ERROR: D1 DB is overloaded. Too many requests queued.", "busy"],
    ["D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.", "unavailable"],
    ["D1_ERROR: Network connection lost.", "unknown"],
    ["D1_ERROR: Internal error in D1 DB storage caused object to be reset.", "unknown"],
    ["D1_ERROR: D1 DB reset because its code was updated.", "unknown"],
    ["D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.", "unknown"],
    ["D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.", "unknown"],
    ["D1_ERROR: Exceeded maximum DB size", "busy"],
    ["Too many API requests by single worker invocation.", "busy"],
    ["D1_ERROR: string or blob too big: SQLITE_TOOBIG", "invalid-value"],
    ["D1_ERROR: malformed JSON: SQLITE_ERROR", "invalid-value"],
    ["D1_ERROR: out of memory: SQLITE_NOMEM", "busy"],
    ["D1_ERROR: attempt to write a readonly database: SQLITE_READONLY", "denied"],
    ["D1_ERROR: Exceeded maximum account storage limit.", "busy"],
    ["D1_ERROR: Your account has exceeded the daily limit of rows written.", "busy"],
    ["D1_ERROR: no such table: cairnq_tasks: SQLITE_ERROR", "missing-schema"],
    ["D1_ERROR: UNIQUE constraint failed: t.a: SQLITE_CONSTRAINT", "conflict"],
    ["D1_ERROR: something new", "unknown"],
  ])("takes %j as %s", (message, expected) => {
    expect(executor.classify(new Error(message))).toBe(expected);
  });

  it("classifies a refusal of the runtime as rejected", async () => {
    const marks = Array.from({ length: 101 }, () => "?").join(",");
    const refused = [
      executor.run(statement("select 1 as n where 1 = ?", 1, 2)),
      executor.run(statement(`select ${marks}`, ...Array.from({ length: 101 }, (_, n) => n))),
      executor.run(statement("begin")),
      executor.run(statement("")),
      executor.run({ sql: "select ?", params: [undefined as unknown as null] }),
    ];
    for (const outcome of await Promise.allSettled(refused)) {
      expect(outcome.status).toBe("rejected");
      const { reason } = outcome as PromiseRejectedResult;
      const expected = String(reason).includes("D1_TYPE_ERROR") ? "invalid-value" : "rejected";
      expect([String(reason), executor.classify(reason)]).toEqual([String(reason), expected]);
    }
  });
});

it("counts the rows that the engine says it read and wrote", async () => {
  const { binding, meter, close } = await openD1();
  const fresh = d1(binding);
  await fresh.run(statement("create table item (id text primary key) without rowid"));
  const before = meter();
  await fresh.batch([statement("insert into item values ('a')"), statement("insert into item values ('b')")]);
  await fresh.run(statement("select * from item"));
  const after = meter();
  expect(after.rowsWritten! - before.rowsWritten!).toBe(2);
  expect(after.rowsRead! - before.rowsRead!).toBeGreaterThanOrEqual(2);
  expect(after.roundTrips - before.roundTrips).toBe(2);
  close();
});

it("opens each database empty", async () => {
  const { binding, close } = await openD1();
  const error = await d1(binding)
    .run(statement("select * from item"))
    .catch((reason: unknown) => reason);
  expect(String(error)).toContain("no such table");
  close();
});

it("takes the largest parameter that its limits promise, in bytes", async () => {
  const text = "é".repeat(executor.limits.maxParamBytes / 2);
  await executor.run(statement("create table large (body text)"));
  expect(
    await executor.run(statement("insert into large values (?) returning length(body) as n", text)),
  ).toEqual([{ n: text.length }]);
});
