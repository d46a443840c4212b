// Claims over rows with any values that the constraints allow.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { checkRounds } from "../../testing/hostile/property.ts";
import { createStatementDatabase } from "../../testing/postgres-client.ts";

const ROUNDS = 80;
const run = promisify(execFile);

describe("claims over any rows that the tables' constraints allow end, and take every due task in order", () => {
  test.each(["better-sqlite3", "libsql"])("on %s", { timeout: 120_000 }, async (engine) => {
    const script = `testing/hostile/sqlite-process.ts`;
    const { stdout } = await run(process.execPath, [script, engine, String(ROUNDS)], { timeout: 60_000 });
    expect(Number(stdout)).toBeGreaterThan(ROUNDS * 8);
  });

  test("on Postgres", { timeout: 120_000 }, async () => {
    const client = await createStatementDatabase();
    try {
      await client.query("set statement_timeout = 10000");
      expect(await checkRounds("postgres", client, ROUNDS)).toBeGreaterThan(ROUNDS * 8);
    } finally {
      await client.end();
    }
  });
});

test("a drain over such rows ends, and runs tasks that are due at a fraction of a millisecond side by side", {
  timeout: 60_000,
}, async () => {
  const script = `testing/hostile/drain-process.ts`;
  const { stdout } = await run(process.execPath, [script], { timeout: 30_000 });
  const { claimed, succeeded, most } = JSON.parse(stdout);
  expect({ succeeded, most }).toEqual({ succeeded: 10, most: 10 });
  expect(claimed).toBeGreaterThan(20);
});
