import { describe, expect, test } from "vitest";
import { migrationScript } from "../../src/core/migration-script.ts";
import { bind } from "../../src/core/statement.ts";
import { type Executor, Wadi } from "../../src/index.ts";
import { postgres } from "../../src/protocol/postgres.ts";
import { sqlite } from "../../src/protocol/sqlite.ts";
import type { OpenTarget } from "../support/target.ts";
import { pickTargets } from "../support/targets.ts";

const INDEX = "cairnq_tasks_claim_idx";
const QUEUED = "wadi_tasks_queued_idx";

const read = async (executor: Executor, sql: string) => executor.run({ sql, params: [] });

async function indexes(executor: Executor): Promise<unknown[]> {
  const sql =
    executor.dialect === "sqlite"
      ? "select name from sqlite_master where type = 'index' and tbl_name = 'cairnq_tasks'"
      : "select indexname as name from pg_indexes where tablename = 'cairnq_tasks'";
  return (await read(executor, sql)).map(({ name }) => name);
}

const ledger = async (executor: Executor) =>
  (await read(executor, "select name from wadi_migrations where name = 'mixed_fleet.sql'")).length;

/** How the engine would run a statement, as one text. */
async function plan(executor: Executor, sql: string, params: readonly (string | number | null)[] = []) {
  const explain = executor.dialect === "sqlite" ? "explain query plan" : "explain";
  const rows = await executor.run({ sql: `${explain} ${sql}`, params });
  return rows.map((row) => row.detail ?? row["QUERY PLAN"]).join("\n");
}

/** A claim over all names of a queue, as the reference SDKs look for due tasks. */
const REFERENCE_CLAIM =
  "select id from cairnq_tasks where status = 'queued' and queue = 'default' and run_at_ms <= 9000000000000 " +
  "order by priority desc, run_at_ms, id limit 10";

describe.each(pickTargets(["better-sqlite3-file", "d1", "pg"]))("$name", (target) => {
  async function opened(work: (open: OpenTarget, wadi: Wadi) => Promise<void>): Promise<void> {
    const open = await target.open();
    try {
      await work(open, new Wadi(open.executor));
    } finally {
      await open.close();
    }
  }

  test("the index of other SDKs is absent unless it is asked for", () =>
    opened(async ({ executor }, wadi) => {
      await wadi.submit("a", 1);
      await wadi.migrate();
      await wadi.migrate({ mixedFleet: false });
      expect(await indexes(executor)).not.toContain(INDEX);
      expect(await ledger(executor)).toBe(0);
    }));

  test("it is added once, to an empty database or later, and stays", () =>
    opened(async (open, wadi) => {
      await Promise.all([wadi.migrate(), wadi.migrate({ mixedFleet: true }), wadi.submit("a", 1)]);
      expect(await indexes(open.executor)).toContain(INDEX);
      const other = new Wadi(await open.connect());
      await Promise.all([wadi.migrate({ mixedFleet: true }), other.migrate({ mixedFleet: true })]);
      await other.migrate();
      expect(await indexes(open.executor)).toEqual(expect.arrayContaining([INDEX, QUEUED]));
      expect(await ledger(open.executor)).toBe(1);
      await other.close();
    }));

  test("it serves claims over all names, and Wadi's own stay on theirs", () =>
    opened(async ({ executor }, wadi) => {
      const entries = Array.from({ length: 1000 }, (_, n) => ({ payload: n, priority: n % 3 }));
      for (const name of ["a", "b"]) await wadi.submitMany(name, entries);
      if (target.dialect === "postgres") await read(executor, "analyze cairnq_tasks");
      const sort = target.dialect === "sqlite" ? "TEMP B-TREE" : "Sort";
      expect(await plan(executor, REFERENCE_CLAIM)).toContain(sort);
      await wadi.migrate({ mixedFleet: true });
      const served = await plan(executor, REFERENCE_CLAIM);
      expect(served).toContain(INDEX);
      expect(served).not.toContain(sort);
      const lanes_json = JSON.stringify([{ queue: "default", name: "a", quota: 10 }]);
      const values = { lanes_json, worker_id: "w:1", lease_ms: 1000, max_tasks: 10, now_ms: null };
      const claim = bind(executor, "claim_tasks", values);
      const own = await plan(executor, claim.sql, claim.params);
      expect(own).toContain(QUEUED);
      expect(own).not.toContain(INDEX);
    }));
});

test("the migration script holds it on request", () => {
  for (const protocol of [sqlite, postgres]) {
    expect(migrationScript(protocol)).not.toContain(INDEX);
    expect(migrationScript(protocol, { mixedFleet: true })).toContain(`create index if not exists ${INDEX}`);
    expect(migrationScript(protocol, { mixedFleet: true })).toContain("'mixed_fleet.sql'");
  }
});
