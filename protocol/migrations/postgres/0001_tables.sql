create table if not exists cairnq_meta (
  key text primary key,
  value text not null
);

create table if not exists cairnq_migrations (
  name text primary key,
  applied_at_ms bigint not null
);

create table if not exists cairnq_tasks (
  id text primary key,
  name text not null,
  queue text not null default 'default',
  status text not null check (status in ('queued', 'running', 'succeeded', 'failed', 'canceled')),
  payload jsonb not null,
  result jsonb,
  error jsonb,
  metadata jsonb not null default '{}',
  progress double precision,
  message text,
  attempt integer not null default 0,
  max_attempts integer not null default 3,
  priority integer not null default 0,
  worker_id text,
  lease_until_ms bigint,
  run_at_ms bigint not null,
  cancel_requested_at_ms bigint,
  parent_id text,
  root_id text,
  correlation_id text,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  completed_at_ms bigint
);

create table if not exists cairnq_task_keys (
  key text primary key,
  task_id text not null references cairnq_tasks (id) on delete cascade,
  created_at_ms bigint not null,
  updated_at_ms bigint not null
);

insert into cairnq_meta (key, value) values ('protocol_version', '1') on conflict (key) do nothing;

-- Only a database that no other SDK has set up records the reference migrations as done.
insert into cairnq_migrations (name, applied_at_ms)
select name, floor(extract(epoch from clock_timestamp()) * 1000)::bigint
from unnest(array[
  '0001_init.sql', '0002_purge_index.sql', '0003_notify.sql', '0004_lease_index.sql', '0005_clear_terminal_lease.sql',
  '0006_claim_name_index.sql', '0007_purge_status_index.sql', '0008_claim_due_index.sql', '0009_purge_queue_index.sql',
  '0010_drop_status_index.sql'
]) as m(name)
where not exists (select 1 from cairnq_meta where key = 'schema_version')
on conflict (name) do nothing;

insert into cairnq_meta (key, value) values ('schema_version', '10') on conflict (key) do nothing;
