-- How many leases have expired on a task since its attempts began to count, and how many may.
alter table cairnq_tasks add column crashes integer not null default 0;

alter table cairnq_tasks add column max_crashes integer not null default 3;

-- The history of errors: one row for each attempt that failed (`kind` error) or whose lease expired (`kind` crash).
create table if not exists wadi_failures (
  task_id text not null references cairnq_tasks (id) on delete cascade,
  failed_at_ms integer not null,
  attempt integer not null,
  kind text not null check (kind in ('error', 'crash')),
  worker_id text,
  error text not null check (json_valid(error)),
  primary key (task_id, failed_at_ms, attempt)
) without rowid;
