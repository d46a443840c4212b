// Creates the protocol's tables as the reference SDKs do, for tests in which both kinds of SDK start at once.

import type { Pool } from "pg";

interface ReferenceMigration {
  readonly name: string;
  readonly sql: string;
}

const TABLES = `
  create table if not exists cairnq_tasks (id text primary key, name text not null,
    queue text not null default 'default', status text not null, payload jsonb not null, result jsonb,
    error jsonb, metadata jsonb not null default '{}',
    progress double precision, message text, attempt integer not null default 0,
    max_attempts integer not null default 3, priority integer not null default 0, worker_id text,
    lease_until_ms bigint, run_at_ms bigint not null,
    cancel_requested_at_ms bigint, parent_id text, root_id text, correlation_id text,
    created_at_ms bigint not null, updated_at_ms bigint not null, completed_at_ms bigint);
  create table if not exists cairnq_task_keys (key text primary key,
    task_id text not null references cairnq_tasks (id) on delete cascade,
    created_at_ms bigint not null, updated_at_ms bigint not null);
  create table if not exists cairnq_meta (key text primary key, value text not null);
  insert into cairnq_meta values ('protocol_version', '1'), ('schema_version', '1') on conflict do nothing`;

const TRIGGER = `
  create or replace function reference_notify() returns trigger language plpgsql as $$ begin
    perform pg_notify(case new.status when 'queued' then 'cairnq_queued' else 'cairnq_done' end,
      case new.status when 'queued' then new.queue else new.id end);
    return null;
  end $$;
  drop trigger if exists cairnq_tasks_notify on cairnq_tasks;
  create trigger cairnq_tasks_notify after insert or update of status on cairnq_tasks
    for each row when (new.status <> 'running') execute function reference_notify()`;

/** The migrations of the reference SDKs: tables, triggers, and indexes before and after them. */
export const MIGRATIONS: readonly ReferenceMigration[] = [
  { name: "0001_init.sql", sql: TABLES },
  { name: "0002_purge_index.sql", sql: index("completed", "completed_at_ms") },
  { name: "0003_notify.sql", sql: TRIGGER },
  { name: "0004_lease_index.sql", sql: index("lease", "lease_until_ms") },
  {
    name: "0010_drop_status_index.sql",
    sql: "update cairnq_meta set value = '10' where key = 'schema_version'",
  },
];

function index(name: string, columns: string): string {
  return `create index if not exists cairnq_tasks_${name}_idx on cairnq_tasks (${columns})`;
}

/**
 * Creates the ledger of the reference SDKs, in one transaction. They fail if they lose a race; this one tries
 * again.
 */
export async function createLedger(pool: Pool): Promise<void> {
  const sql =
    "create table if not exists cairnq_migrations (name text primary key, applied_at_ms bigint not null)";
  await pool.query(sql).catch(() => pool.query(sql));
}

/** Applies missing migrations as the reference SDKs do: in a transaction each, which locks the ledger first. */
export async function migrateLikeReference(pool: Pool, migrations = MIGRATIONS): Promise<void> {
  const client = await pool.connect();
  try {
    for (const { name, sql } of migrations) {
      await client.query("begin");
      await client.query("lock table cairnq_migrations in exclusive mode");
      const { rowCount } = await client.query("select from cairnq_migrations where name = $1", [name]);
      if (rowCount === 0) {
        await client.query(sql);
        await client.query("insert into cairnq_migrations values ($1, 1)", [name]);
      }
      await client.query("commit");
    }
  } finally {
    client.release();
  }
}
