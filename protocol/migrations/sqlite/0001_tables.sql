create table if not exists cairnq_meta (
  key text primary key not null,
  value text not null
) without rowid;

create table if not exists cairnq_migrations (
  name text primary key not null,
  applied_at_ms integer not null
) without rowid;

-- WITHOUT ROWID: one row written less for every insert, and a claim that finished rows do not slow down.
create table if not exists cairnq_tasks (
  id text primary key not null,
  name text not null,
  queue text not null default 'default',
  status text not null check (status in ('queued', 'running', 'succeeded', 'failed', 'canceled')),
  payload text not null check (json_valid(payload)),
  result text check (result is null or json_valid(result)),
  error text check (error is null or json_valid(error)),
  metadata text not null default '{}' check (json_valid(metadata)),
  progress real,
  message text,
  attempt integer not null default 0,
  max_attempts integer not null default 3,
  priority integer not null default 0,
  worker_id text,
  lease_until_ms integer,
  run_at_ms integer not null,
  cancel_requested_at_ms integer,
  parent_id text,
  root_id text,
  correlation_id text,
  created_at_ms integer not null,
  updated_at_ms integer not null,
  completed_at_ms integer
) without rowid;

create table if not exists cairnq_task_keys (
  key text primary key not null,
  task_id text not null references cairnq_tasks (id) on delete cascade,
  created_at_ms integer not null,
  updated_at_ms integer not null
) without rowid;

insert or ignore into cairnq_meta (key, value) values ('protocol_version', '1');

-- Only a database that no other SDK has set up records the reference migrations as done.
insert into cairnq_migrations (name, applied_at_ms)
select value, cast(round(unixepoch('subsec') * 1000) as integer)
from json_each(json_array(
  '0001_init.sql', '0002_purge_index.sql', '0004_lease_index.sql', '0005_clear_terminal_lease.sql',
  '0006_claim_name_index.sql', '0007_purge_status_index.sql', '0008_claim_due_index.sql', '0009_purge_queue_index.sql',
  '0010_drop_status_index.sql'
))
where not exists (select 1 from cairnq_meta where key = 'schema_version');

insert or ignore into cairnq_meta (key, value) values ('schema_version', '10');
