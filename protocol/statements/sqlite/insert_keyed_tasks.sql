-- Queues each task whose key is free.
-- @only sqlite: Postgres takes the key locks first and does the rest in one statement
-- @param tasks_json json
-- @param now_ms integer?
-- @returns id
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
insert into cairnq_tasks (
  id, name, queue, status, payload, metadata, max_attempts, max_crashes, priority, run_at_ms,
  parent_id, root_id, correlation_id, concurrency_key, created_at_ms, updated_at_ms
)
select
  value->>'id', value->>'name', value->>'queue', 'queued', value->'payload', value->'metadata',
  value->>'max_attempts', value->>'max_crashes', value->>'priority',
  coalesce(value->>'run_at_ms', now.ms + (value->>'delay_ms')),
  value->>'parent_id', coalesce(value->>'root_id', value->>'id'), value->>'correlation_id',
  ifnull(value->>'concurrency_key', ''), now.ms, now.ms
from now cross join json_each(:tasks_json)
where not exists (select 1 from cairnq_task_keys k where k.key = value->>'key')
on conflict (id) do nothing
returning id
