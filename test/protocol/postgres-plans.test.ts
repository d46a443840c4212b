// The query plan of each statement on Postgres.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StatementName, StatementParams } from "../../src/core/generated/statements.ts";
import { bind } from "../../src/core/operations/statement.ts";
import { postgres as protocol } from "../../src/protocol/postgres.ts";
import { createStatementDatabase, type StatementClient } from "../../testing/postgres-client.ts";
import { PLAIN_CLAIM, taskInput } from "../../testing/task-input.ts";

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Total Cost": number;
  readonly "Shared Hit Blocks"?: number;
  readonly "Shared Read Blocks"?: number;
  readonly Plans?: readonly PlanNode[];
}

interface Hot<N extends StatementName> {
  readonly name: N;
  readonly values: StatementParams[N];
  /** Every index of cairnq_tasks the plan goes through, and nothing else. */
  readonly indexes: readonly string[];
}

const PRIMARY = "cairnq_tasks_pkey";
const QUEUED = "wadi_tasks_queued_idx";
const LEASE = "cairnq_tasks_lease_idx";
const LIMITED = "wadi_tasks_limited_idx";
const EXPIRY = "wadi_tasks_expiry_idx";
const ROWS = 100_000;
/** From 100,000 on a server compiles a plan before it runs it, and an estimate may grow with the backlog. */
const MAX_COST = 20_000;

const lanes_json = JSON.stringify([
  ...["resize", "send"].map((name) => ({ queue: "mail", name, quota: 10 })),
  { queue: "default", name: null, quota: 10 },
]);
const claim = { lanes_json, worker_id: "w:1", lease_ms: 30_000, max_tasks: 10, ...PLAIN_CLAIM, now_ms: null };
const limited = { ...claim, lanes_json: JSON.stringify([{ queue: "limited", name: null, quota: 10 }]) };
const leases = ["task_1", "task_2"].map((id) => ({ id, worker_id: "w:1", attempt: 1, outcome: "complete" }));
const tasks_json = JSON.stringify([
  { group: "g", name: "s", at_ms: 1, id: "task_1", key: "k", run_at_ms: 1 },
]);
const limits = [{ key: "tenant", concurrency: 5, rate_count: null, rate_per_ms: null }];
const target = { id: "task_1", key: null };

const hot = <N extends StatementName>(
  name: N,
  values: StatementParams[N],
  indexes: readonly string[],
): Hot<N> => ({
  name,
  values,
  indexes,
});
const HOT = [
  hot("claim_tasks", claim, [PRIMARY, QUEUED]),
  hot("claim_tasks", { ...claim, max_task_bytes: 10_000, weighs: 1 }, [PRIMARY, QUEUED]),
  hot("select_next_due", { lanes_json, schedule_group: null, now_ms: null }, [
    LEASE,
    EXPIRY,
    LIMITED,
    QUEUED,
  ]),
  hot("cancel_overlapped_tasks", { tasks_json, now_ms: null }, [PRIMARY]),
  hot("insert_scheduled_tasks", { tasks_json, now_ms: null }, [PRIMARY]),
  hot("insert_scheduled_keys", { tasks_json, now_ms: null }, [PRIMARY]),
  hot("move_schedules", { moves_json: tasks_json, now_ms: null }, [PRIMARY]),
  hot("expire_tasks", { max_tasks: 1_000, now_ms: null }, [PRIMARY, EXPIRY]),
  hot("recover_leases", { scope: null, now_ms: null }, [LEASE, PRIMARY]),
  hot("renew_leases", { leases_json: JSON.stringify(leases), lease_ms: 30_000, now_ms: null }, [PRIMARY]),
  hot("settle_tasks", { settlements_json: JSON.stringify(leases), now_ms: null }, [PRIMARY]),
  hot("update_progress", { id: "task_1", worker_id: "w:1", progress: 0.5, message: null, now_ms: null }, [
    PRIMARY,
  ]),
  hot(
    "cancel_replaced_tasks",
    { keys_json: JSON.stringify([taskInput("task_x", { key: "k", conflict: "replace" })]), now_ms: null },
    [PRIMARY],
  ),
  hot(
    "lock_debounced_tasks",
    { keys_json: JSON.stringify([taskInput("task_x", { key: "k", conflict: "debounce" })]) },
    [PRIMARY],
  ),
  hot(
    "submit_keyed_tasks",
    { tasks_json: JSON.stringify([taskInput("task_x", { key: "k", conflict: "reuse" })]), now_ms: null },
    [PRIMARY],
  ),
  hot("fence_lease", { id: "task_1", worker_id: "w:1", unless_canceled: 1, now_ms: null }, [PRIMARY]),
  hot("succeed_task", { id: "task_1", worker_id: "w:1", result: "null", now_ms: null }, [PRIMARY]),
  hot(
    "fence_task_keys",
    { keys_json: JSON.stringify([taskInput("task_x", { key: "k", conflict: "reject" })]) },
    [PRIMARY],
  ),
  hot("cancel_task", { ...target, now_ms: null }, [PRIMARY]),
  hot("retry_task", { ...target, reset_attempt: 0, now_ms: null }, [PRIMARY]),
  hot("claim_limited_tasks", limited, [PRIMARY, LIMITED, QUEUED]),
  hot("claim_limited_tasks", { ...limited, max_task_bytes: 10_000, weighs: 1 }, [PRIMARY, LIMITED, QUEUED]),
  hot("insert_limit_starts", { worker_id: "w:1" }, [LIMITED]),
  hot("delete_limit_starts", { worker_id: "w:1", now_ms: null }, [LIMITED]),
  hot("purge_limits", { older_than_ms: 0, max_keys: 100, now_ms: null }, [LIMITED, QUEUED]),
  hot("upsert_limits", { limits_json: JSON.stringify(limits), now_ms: null }, []),
  hot("select_retried", { ...target, now_ms: null }, [PRIMARY]),
  hot("select_task", { ...target, now_ms: null }, [PRIMARY]),
  hot("select_task_status", { id: null, key: "k1", now_ms: null }, [PRIMARY]),
  hot(
    "select_task_states",
    { ids_json: '["task_1", "task_2"]', watched_json: '["task_3"]', keys_json: '["k1", "k2"]', now_ms: null },
    [PRIMARY],
  ),
  hot("select_task_owners", { ids_json: '["task_1", "task_2"]' }, [PRIMARY]),
  hot("select_tasks", { ids_json: '["task_1", "task_2"]', now_ms: null }, [PRIMARY]),
  hot("select_claimed", { worker_id: "w:1" }, [LEASE]),
  hot("list_failures", { id: "task_1" }, []),
  hot("count_queued", { queue: "mail", max_depth: 1_000 }, [QUEUED]),
];
const DONE = "wadi_tasks_done_idx";
const scope = { status: null, queue: null, name: null, max_tasks: 100, now_ms: null };
const listed = { ids_json: '["task_1", "task_2"]', status: "failed", cutoff_ms: 9e15 };
const behind = { cutoff_ms: 9e15, position: null };
const BULK = [
  hot("cancel_listed_tasks", { ...listed, now_ms: null }, [PRIMARY]),
  hot("retry_listed_tasks", { ...listed, reset_attempt: 0, now_ms: null }, [PRIMARY]),
  hot("delete_listed_tasks", { ...listed, scope: null }, [PRIMARY]),
  hot("lock_listed_keys", { ids_json: listed.ids_json }, []),
  hot("select_live_page", { ...scope, ...behind }, [LEASE, PRIMARY, QUEUED]),
  hot("select_ended_page", { ...scope, ...behind }, [DONE]),
  hot("count_live_tasks", scope, [LEASE, QUEUED]),
  hot("count_ended_tasks", scope, [DONE]),
];
const PURGE = hot(
  "purge_tasks",
  { older_than_ms: 1_000, queue: null, status: null, name: null, max_tasks: 100, scope: null, now_ms: null },
  [PRIMARY, "wadi_tasks_done_idx"],
);

let postgres: StatementClient;

beforeAll(async () => {
  postgres = await createStatementDatabase();
  await postgres.query("alter table cairnq_tasks set (autovacuum_enabled = false)");
  await postgres.query("alter table cairnq_task_keys set (autovacuum_enabled = false)");
});

afterAll(() => postgres.end());

async function explain({ name, values }: Hot<StatementName>, options = ""): Promise<PlanNode> {
  const { sql, params } = bind({ protocol }, name, values);
  const literals = params.map((value) =>
    value === null ? "null" : `'${String(value).replaceAll("'", "''")}'`,
  );
  await postgres.query(`prepare hot as ${sql}`);
  const [row] = await postgres.query(`explain (${options} format json) execute hot(${literals.join(", ")})`);
  await postgres.query("deallocate hot");
  return JSON.parse(String(row!["QUERY PLAN"]))[0].Plan;
}

function nodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}

function expectPlans(statements: readonly Hot<StatementName>[]): void {
  describe.each(["force_custom_plan", "force_generic_plan"])("%s", (mode) => {
    test.each(statements)("$name", async (statement) => {
      await postgres.query(`set plan_cache_mode = ${mode}`);
      const plan = await explain(statement);
      const scans = nodes(plan).filter(
        (node) =>
          node["Node Type"] === "Seq Scan" &&
          ["cairnq_tasks", "wadi_failures"].includes(node["Relation Name"]!),
      );
      expect(scans).toEqual([]);
      const indexes = nodes(plan).flatMap((node) => node["Index Name"] ?? []);
      const ofTasks = indexes.filter(
        (index) => !/task_keys|failures|wadi_limit|wadi_pauses|wadi_schedule|cairnq_meta/.test(index),
      );
      expect([...new Set(ofTasks)].sort()).toEqual(statement.indexes);
      // A count reads what there is.
      if (!statement.name.startsWith("count_live")) expect(plan["Total Cost"]).toBeLessThan(MAX_COST);
    });
  });
}

describe("a new table without statistics", () => expectPlans(HOT));

describe(`${ROWS} rows without statistics`, () => {
  beforeAll(() => fill());
  expectPlans([...HOT, ...BULK, PURGE]);
});

describe(`${ROWS} rows with statistics`, () => {
  beforeAll(() => postgres.query("analyze"));
  expectPlans([...HOT, ...BULK, PURGE]);
});

describe(`${ROWS} rows after a vacuum`, () => {
  beforeAll(() => postgres.query("vacuum analyze"));
  expectPlans([...HOT, ...BULK, PURGE]);

  test("a claim reads what it takes, and neither the backlog nor what is not due", async () => {
    expect(await blocks(hot("claim_tasks", claim, []))).toBeLessThan(800);
    expect(await blocks(hot("claim_tasks", { ...claim, now_ms: 0 }, []))).toBeLessThan(300);
  });

  test("the search for the next due task is a few index descents", async () => {
    const values = { lanes_json, schedule_group: null, now_ms: null };
    expect(await blocks(hot("select_next_due", values, []))).toBeLessThan(150);
  });

  test("a session settles on one plan for every claim", async () => {
    await postgres.query("set plan_cache_mode = auto");
    for (let call = 0; call < 8; call++) await postgres.run("claim_tasks", { ...claim, now_ms: 0 });
    const [row] = await postgres.query(
      "select generic_plans from pg_prepared_statements where name = 'claim_tasks'",
    );
    expect(Number(row!.generic_plans)).toBeGreaterThan(0);
  });
});

/** Rows of every status; half of the queued ones are never due. */
async function fill(): Promise<void> {
  await postgres.query(`
    insert into cairnq_tasks (
      id, name, queue, status, payload, priority, attempt, worker_id, lease_until_ms, run_at_ms,
      root_id, concurrency_key, created_at_ms, updated_at_ms, completed_at_ms
    )
    select
      'task_' || i, (array['resize', 'send', 'sum'])[i % 3 + 1],
      case when i % 13 = 0 then 'limited' else (array['default', 'mail'])[i % 2 + 1] end, status, '{}',
      i % 5, 1, case when status <> 'queued' then 'w:1' end, case status when 'running' then 9e12 end,
      case when i % 4 < 2 then 9e12 else i end, 'task_' || i,
      case when i % 13 = 0 then 'k' || i % 50 else '' end, 0, 0,
      case when status not in ('queued', 'running') then i end
    from generate_series(1, ${ROWS}) i
    cross join lateral (
      select case
        when i % 10 < 6 then 'queued'
        when i % 1000 = 7 then 'running'
        when i % 10 = 8 then 'failed'
        else 'succeeded'
      end
    ) s(status)`);
  await postgres.query(
    "insert into cairnq_task_keys select 'k' || id, id, 0, 0 from cairnq_tasks limit 10000",
  );
  await postgres.query(
    "insert into wadi_failures select id, 0, 1, 'error', 'w:1', '{}' from cairnq_tasks limit 10000",
  );
  await postgres.query(
    "insert into wadi_limits select 'k' || i, 50, 100, 1000, 0 from generate_series(0, 49) i",
  );
  await postgres.query(
    "insert into wadi_limit_starts select 'k' || i % 50, i, 'w:1', 1 from generate_series(1, 1000) i",
  );
}

/** How many blocks the statement touches. */
async function blocks(statement: Hot<StatementName>): Promise<number> {
  await postgres.query("begin");
  const plan = await explain(statement, "analyze, buffers,");
  await postgres.query("rollback");
  return (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
}
