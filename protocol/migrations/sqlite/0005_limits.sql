-- What a fleet may do under one concurrency key at a time: `concurrency` tasks running, `rate_count` starts in any
-- `rate_per_ms`. The latest submit that names the key decides.
create table if not exists wadi_limits (
  key text primary key not null,
  concurrency integer,
  rate_count integer,
  rate_per_ms integer,
  updated_at_ms integer not null
) without rowid;

-- One row a claim and rate-limited key, kept for one window.
create table if not exists wadi_limit_starts (
  key text not null references wadi_limits (key) on delete cascade,
  started_at_ms integer not null,
  worker_id text not null,
  tasks integer not null,
  primary key (key, started_at_ms, worker_id)
) without rowid;

create index if not exists wadi_tasks_limited_idx
  on cairnq_tasks (concurrency_key, worker_id) where status = 'running' and concurrency_key <> '';
