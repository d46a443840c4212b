// The query plan of each statement on SQLite.

import Database from "better-sqlite3";
import { beforeAll, describe, expect, test } from "vitest";
import type { StatementName } from "../../src/core/generated/statements.ts";
import { sqlite as protocol } from "../../src/protocol/sqlite.ts";

const QUEUED = "tasks by wadi_tasks_queued_idx";
const LEASE = "tasks by cairnq_tasks_lease_idx";
const DONE = "tasks by wadi_tasks_done_idx";
const TASK = "tasks by primary key";
const LIMITED = "tasks by wadi_tasks_limited_idx";
/** The running tasks that have a key, whose index contains the owner. */
const RUNNING_LIMITED = `scan of ${LIMITED}`;
const LIMIT = "limits by primary key";
const LIMITS = "scan of limits";
const START = "starts by primary key";
const KEY = "keys by primary key";
const SCHEDULE = "schedules by primary key";
const GROUP = "schedule groups by primary key";
const KEY_OF_TASK = "keys by wadi_task_keys_task_idx";
const FAILURE = "failures by primary key";
const EXPIRY = "tasks by wadi_tasks_expiry_idx";
const PAUSE = "pauses by primary key";
const WAKE = "wakes by primary key";
/**
 * Where a task is inserted or deleted SQLite looks for rows that refer to it; an insert does so only in a batch that
 * broke a reference.
 */
const REFERENCES = [KEY_OF_TASK, FAILURE];

/** How each statement reaches the tables. A scan of all tasks is named as one. */
const PLANS: Partial<Record<StatementName, readonly string[]>> = {
  cancel_overlapped_tasks: [SCHEDULE, KEY, TASK],
  cancel_listed_tasks: [TASK],
  cancel_replaced_tasks: [KEY, TASK],
  cancel_task: [KEY, TASK],
  claim_limited_tasks: [TASK, QUEUED, LIMITED, LIMIT, START, PAUSE],
  claim_tasks: [TASK, QUEUED, PAUSE],
  count_ended_tasks: [TASK, DONE, "scan of tasks by wadi_tasks_done_idx"],
  count_live_tasks: [TASK, QUEUED, LEASE, "scan of tasks by wadi_tasks_queued_idx"],
  count_queued: [QUEUED],
  count_related_tasks: [TASK, "tasks by wadi_tasks_correlation_idx", "tasks by wadi_tasks_root_idx"],
  // Counting what there is reads what there is, from covering indexes.
  count_tasks: [LEASE, "scan of tasks by wadi_tasks_done_idx", "scan of tasks by wadi_tasks_queued_idx"],
  delete_copied_groups: ["scan of schedule groups"],
  delete_copied_pauses: ["scan of pauses"],
  delete_copied_schedules: [SCHEDULE, "scan of schedules"],
  delete_copied_wakes: ["scan of wakes"],
  // It deletes what it reads, and stops at its limit.
  delete_live_tasks: [...REFERENCES, TASK, LEASE, "scan of tasks by wadi_tasks_queued_idx"],
  delete_limit_starts: [RUNNING_LIMITED, LIMIT, START],
  delete_pause: [PAUSE],
  expire_tasks: [TASK, EXPIRY],
  delete_schedule: [SCHEDULE],
  delete_schedules: [SCHEDULE, GROUP],
  fence_lease: [TASK],
  fence_task_keys: [KEY, TASK],
  free_task_keys: [KEY, TASK],
  insert_crashes: [LEASE],
  insert_failures: [TASK],
  insert_keyed_tasks: [KEY, TASK, ...REFERENCES],
  insert_limit_starts: [RUNNING_LIMITED, LIMIT],
  insert_pause: [],
  insert_scheduled_keys: [TASK],
  insert_scheduled_tasks: [SCHEDULE, KEY, TASK, ...REFERENCES],
  insert_task: REFERENCES,
  insert_task_keys: [TASK],
  insert_tasks: REFERENCES,
  delete_listed_tasks: [TASK, ...REFERENCES],
  list_failures: [FAILURE],
  list_related_tasks: [TASK, "tasks by wadi_tasks_correlation_idx", "tasks by wadi_tasks_root_idx"],
  // Reads the schedules, which are few, in the order of the primary key.
  list_schedules: ["scan of schedules"],
  // Newest first along the primary key, ended by the limit.
  list_tasks: ["scan of tasks"],
  move_schedules: [SCHEDULE, TASK],
  pause_schedule: [SCHEDULE],
  // Reads the limits, which are few, to find those that are not used.
  purge_limits: [LIMITED, LIMIT, QUEUED, START, "scan of tasks by wadi_tasks_queued_idx"],
  purge_tasks: [...REFERENCES, "scan of tasks by wadi_tasks_done_idx", TASK, DONE],
  recover_leases: [LEASE, TASK],
  renew_leases: [TASK],
  resume_schedule: [SCHEDULE, TASK],
  retry_listed_tasks: [TASK],
  retry_task: [KEY, TASK],
  select_claimed: [LEASE],
  // A scan of an index reads its first entry: the first queue.
  select_ended_page: [TASK, DONE, "scan of tasks by wadi_tasks_done_idx"],
  select_live_page: [TASK, QUEUED, LEASE, "scan of tasks by wadi_tasks_queued_idx"],
  select_related_page: [TASK, "tasks by wadi_tasks_correlation_idx", "tasks by wadi_tasks_root_idx"],
  select_created: [TASK],
  select_keyed_tasks: [KEY, TASK],
  select_heavy_tasks: [QUEUED, TASK, PAUSE],
  // Lists the pauses, which are few.
  select_pauses: ["scan of pauses"],
  select_queues: [QUEUED, "scan of tasks by wadi_tasks_queued_idx"],
  select_unhandled: [QUEUED, TASK, PAUSE, EXPIRY],
  select_held: [TASK],
  // Of the limits it asks only whether there are any.
  select_next_due: [
    ...[LEASE, QUEUED, LIMITED, LIMITS, LIMIT, START, PAUSE, EXPIRY],
    ...[GROUP, "schedules by wadi_schedules_next_idx"],
  ],
  mark_wakes: [LEASE, WAKE],
  take_kicks: [WAKE, PAUSE],
  take_cleared_scope: [LEASE, "scan of tasks by wadi_tasks_queued_idx", "scan of schedules"],
  take_hops: [WAKE],
  reset_hops: [WAKE],
  select_wakes: [WAKE],
  select_retried: [KEY, KEY_OF_TASK, TASK],
  select_task: [KEY, TASK],
  select_task_owners: [TASK],
  select_task_status: [KEY, TASK],
  select_task_states: [KEY, TASK],
  select_tasks: [TASK],
  settle_tasks: [TASK],
  succeed_task: [TASK],
  update_progress: [TASK],
  upsert_limits: [LIMIT, START],
  upsert_schedule_group: [GROUP],
  upsert_schedules: [GROUP],
};

const OF_THE_SCHEMA = [
  "create_ledger",
  "guard_version",
  "insert_migrations",
  "insert_scope",
  "select_migrations",
  "select_scope",
  "select_version",
  "upsert_scope",
];

let db: Database.Database;

beforeAll(() => {
  db = new Database(":memory:");
  for (const { statements } of protocol.migrations) for (const sql of statements) db.exec(sql);
});

/** `SEARCH task USING COVERING INDEX x (..)` as `tasks by x`. */
function accessPaths(name: StatementName): string[] {
  const { sql, params } = protocol.statements[name]!;
  const rows = db.prepare(`explain query plan ${sql}`).all(params.map(() => null)) as { detail: string }[];
  const paths = new Set<string>();
  for (const { detail } of rows) {
    const path = /^(SEARCH|SCAN) (\S+)(?: USING (?:COVERING )?(?:INDEX (\S+)|(PRIMARY KEY)))?/.exec(detail);
    const table = path === null ? undefined : tableOf(path[2]!, sql);
    if (path === null || table === undefined) continue;
    const by = path[3] ?? (path[4] ? "primary key" : undefined);
    paths.add(`${path[1] === "SCAN" ? "scan of " : ""}${table}${by ? ` by ${by}` : ""}`);
  }
  return [...paths].sort();
}

const TABLES: Record<string, string> = {
  cairnq_tasks: "tasks",
  cairnq_task_keys: "keys",
  wadi_limits: "limits",
  wadi_limit_starts: "starts",
  wadi_failures: "failures",
  wadi_pauses: "pauses",
  wadi_wakes: "wakes",
  wadi_schedules: "schedules",
  wadi_schedule_groups: "schedule groups",
};

/** What a name or an alias in a statement stands for. The version, which only the guard reads, is none of these. */
function tableOf(name: string, sql: string): string | undefined {
  const aliased = new RegExp(`\\b(cairnq_\\w+|wadi_\\w+) (?:as )?${name}\\b`).exec(sql);
  return TABLES[aliased?.[1] ?? name];
}

function pinned(): void {
  test.each(Object.entries(PLANS))("%s", (name, paths) => {
    expect(accessPaths(name as StatementName)).toEqual([...paths!].sort());
  });
}

test("every statement has its plan pinned", () => {
  expect([...Object.keys(PLANS), ...OF_THE_SCHEMA].sort()).toEqual(Object.keys(protocol.statements).sort());
});

describe("empty tables without statistics", () => pinned());

describe("full tables without statistics", () => {
  beforeAll(() => {
    db.exec(`
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
      insert into cairnq_tasks (
        id, name, queue, status, payload, priority, worker_id, lease_until_ms, run_at_ms, parent_id, root_id,
        correlation_id, concurrency_key, created_at_ms, updated_at_ms, completed_at_ms
      )
      select printf('task_%08d', i), 'n' || (i % 3), 'q' || (i % 2), s, '{}', i % 5,
        iif(s = 'queued', null, 'w:1'), iif(s = 'running', 1, null), i, iif(i % 7 = 0, 'task_00000001', null),
        'task_00000001', iif(i % 11 = 0, 'c' || (i % 100), null),
        iif(i % 13 = 0, 'k' || (i % 50), ''), 0, 0, iif(s in ('queued', 'running'), null, i)
      from (
        select i,
          iif(i % 10 < 6, 'queued', iif(i % 100 = 7, 'running', iif(i % 10 = 8, 'failed', 'succeeded'))) as s
        from n
      );
      insert into cairnq_task_keys select 'k' || id, id, 0, 0 from cairnq_tasks where id < 'task_00005000';
      insert into wadi_failures select id, 0, 1, 'error', 'w:1', '{}' from cairnq_tasks where id < 'task_00005000';
      insert into wadi_limits
        select distinct concurrency_key, 5, 10, 1000, 0 from cairnq_tasks where concurrency_key <> '';
      insert into wadi_limit_starts
        select l.key, s.value, 'w:1', 2 from wadi_limits l cross join json_each('[1,2,3]') s;
      insert into wadi_schedules (
        group_name, name, source, timing, policy, overlap, dynamic, task, from_ms, next_at_ms, created_at_ms,
        updated_at_ms
      )
      select 'g' || (id % 10), id, 'code', '{}', '{}', 'skip', id % 2, '{}', 0, id, 0, 0
      from (select cast(substr(id, 6) as integer) as id from cairnq_tasks where id < 'task_00000300');
      insert into wadi_schedule_groups select distinct group_name, 0, 'f', 0 from wadi_schedules`);
  });
  pinned();
});

describe("full tables with statistics", () => {
  beforeAll(() => db.exec("analyze"));
  pinned();
});

test("a page of a bulk operation goes on behind a task by its time and its id, not by its time alone", () => {
  const plan = (name: StatementName) => {
    const { sql, params } = protocol.statements[name]!;
    return JSON.stringify(db.prepare(`explain query plan ${sql}`).all(params.map(() => null)));
  };
  expect(plan("select_live_page")).toContain("(run_at_ms,id)>(?,?)");
  expect(plan("select_ended_page")).toContain("(completed_at_ms,id)>(?,?)");
});
