// The optional index for workers of other SDKs on the same tables.

import { describe, expect, test } from "vitest";
import { migrationScript } from "../../../src/core/migrations/migration-script.ts";
import { bind } from "../../../src/core/operations/statement.ts";
import type { Executor } from "../../../src/driver.ts";
import { Wadi } from "../../../src/index.ts";
import { postgres } from "../../../src/protocol/postgres.ts";
import { sqlite } from "../../../src/protocol/sqlite.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { PLAIN_CLAIM } from "../../../testing/task-input.ts";

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
  (await read(executor, "select name from wadi_migrations where name like 'mixed_fleet%' order by name")).map(
    ({ name }) => name,
  );

const OPTIONAL = ["mixed_fleet.sql", "mixed_fleet_2.sql"];

/** How the engine would run a statement, as one text. */
async function plan(executor: Executor, sql: string, params: readonly (string | number | null)[] = []) {
  const explain = executor.dialect === "sqlite" ? "explain query plan" : "explain";
  const rows = await executor.run({ sql: `${explain} ${sql}`, params });
  return rows.map((row) => row.detail ?? row["QUERY PLAN"]).join("\n");
}

const QUEUED_IN_ORDER = "order by priority desc, run_at_ms, id limit 10";
const QUEUES = {
  sqlite: "in (select value from json_each('[\"default\"]'))",
  postgres: "= any('{default}')",
};
const NAMES = { sqlite: "in (select value from json_each('[\"b\"]'))", postgres: "= any('{b}')" };
const DUE = "status = 'queued' and run_at_ms <= 9000000000000";
const DONE =
  "status in ('succeeded', 'failed', 'canceled') and completed_at_ms is not null and completed_at_ms < 9";

/** Queries of the reference SDKs, and the SDKs' indexes that may serve them without a sort or a scan. */
const REFERENCE: Record<string, (dialect: "sqlite" | "postgres") => string> = {
  "a claim of every name": () =>
    `select id from cairnq_tasks where queue = 'default' and ${DUE} ${QUEUED_IN_ORDER}`,
  "a claim of one name": () =>
    `select id from cairnq_tasks where queue = 'default' and name = 'b' and ${DUE} ${QUEUED_IN_ORDER}`,
  "a claim of some names": (d) =>
    `select id from cairnq_tasks where queue = 'default' and name ${NAMES[d]} and ${DUE} ${QUEUED_IN_ORDER}`,
  "a poll for due tasks": (d) =>
    `select 1 from cairnq_tasks where (queue ${QUEUES[d]} and name ${NAMES[d]} and ${DUE})
      or (status = 'running' and lease_until_ms is not null and lease_until_ms <= 9)`,
  "a purge by status": () =>
    `select id from cairnq_tasks where ${DONE} and status = 'failed' order by completed_at_ms limit 10`,
  "a purge by queue": () =>
    `select id from cairnq_tasks where ${DONE} and queue = 'default' order by completed_at_ms limit 10`,
  "a list by status": () =>
    "select * from cairnq_tasks where status = 'failed' order by created_at_ms desc, id desc limit 5",
  "a list by name": () =>
    "select * from cairnq_tasks where name = 'rare' order by created_at_ms desc, id desc limit 5",
  "a list by root": () =>
    "select * from cairnq_tasks where root_id = 'x' order by created_at_ms desc, id desc limit 5",
};

/** Queued tasks of two names and finished ones, with the statistics that the reference SDKs gather as they connect. */
async function fill(executor: Executor): Promise<void> {
  const rows =
    executor.dialect === "sqlite"
      ? "with recursive s(n) as (select 1 union all select n + 1 from s where n < 3000) select"
      : "select";
  const from = executor.dialect === "sqlite" ? "from s" : "from generate_series(1, 3000) s(n)";
  const columns =
    "id, name, status, payload, priority, run_at_ms, created_at_ms, updated_at_ms, completed_at_ms, root_id";
  const status = "case when n % 2 = 0 then 'queued' when n % 30 = 1 then 'failed' else 'succeeded' end";
  await read(
    executor,
    `insert into cairnq_tasks (${columns}) ${rows} 'task_' || n,
      case when n % 100 = 0 then 'rare' when n % 4 < 2 then 'a' else 'b' end, ${status}, '{}',
      n % 3, n, n, n, case when n % 2 = 0 then null else n end, 'root_' || n ${from}`,
  );
  await read(executor, "analyze cairnq_tasks");
}

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
      expect(await ledger(executor)).toEqual([]);
    }));

  test("it is added once, to an empty database or later, and stays", () =>
    opened(async (open, wadi) => {
      await Promise.all([wadi.migrate(), wadi.migrate({ mixedFleet: true }), wadi.submit("a", 1)]);
      expect(await indexes(open.executor)).toContain(INDEX);
      const other = new Wadi(await open.connect());
      await Promise.all([wadi.migrate({ mixedFleet: true }), other.migrate({ mixedFleet: true })]);
      await other.migrate();
      expect(await indexes(open.executor)).toEqual(expect.arrayContaining([INDEX, QUEUED]));
      expect(await ledger(open.executor)).toEqual(OPTIONAL);
      await other.close();
    }));

  test("they serve the queries of other SDKs, and Wadi's claims keep using Wadi's indexes", () =>
    opened(async ({ executor }, wadi) => {
      await wadi.migrate({ mixedFleet: true });
      await fill(executor);
      const plans = Object.entries(REFERENCE).map(async ([what, sql]) => [
        what,
        await plan(executor, sql(executor.dialect)),
      ]);
      for (const [what, served] of await Promise.all(plans)) {
        expect(served, what).toContain("cairnq_tasks_");
        expect(served, what).not.toMatch(/SCAN cairnq_tasks|Seq Scan/);
        if (!what!.includes("list")) expect(served, what).not.toMatch(/FOR ORDER BY|Sort/);
      }
      const lanes_json = JSON.stringify([{ queue: "default", name: "a", quota: 10 }]);
      const values = {
        lanes_json,
        worker_id: "w:1",
        lease_ms: 1000,
        max_tasks: 10,
        ...PLAIN_CLAIM,
        now_ms: null,
      };
      const claim = bind(executor, "claim_tasks", values);
      const own = await plan(executor, claim.sql, claim.params);
      expect(own).toContain(QUEUED);
      // The planner may find a lane's names in either index of the SDKs, but must never read tasks of other names.
      expect(own).not.toContain(INDEX);
    }));

  test("without them other SDKs scan and sort", () =>
    opened(async ({ executor }, wadi) => {
      await wadi.migrate();
      await fill(executor);
      const served = await plan(executor, REFERENCE["a claim of every name"]!(executor.dialect));
      expect(served).toMatch(/FOR ORDER BY|Sort/);
    }));

  test("a database that got the first index alone gets the others", () =>
    opened(async ({ executor }, wadi) => {
      await wadi.migrate();
      await read(executor, `create index ${INDEX} on cairnq_tasks (queue, priority) where status = 'queued'`);
      await read(executor, "insert into wadi_migrations (name, applied_at_ms) values ('mixed_fleet.sql', 1)");
      await wadi.migrate({ mixedFleet: true });
      expect(await ledger(executor)).toEqual(OPTIONAL);
      expect(await indexes(executor)).toContain("cairnq_tasks_status_completed_idx");
    }));
});

test("the migration script holds it on request", () => {
  for (const protocol of [sqlite, postgres]) {
    expect(migrationScript(protocol)).not.toContain(INDEX);
    expect(migrationScript(protocol, { mixedFleet: true })).toContain(`create index if not exists ${INDEX}`);
    expect(migrationScript(protocol, { mixedFleet: true })).toContain('"mixed_fleet.sql"');
  }
});
