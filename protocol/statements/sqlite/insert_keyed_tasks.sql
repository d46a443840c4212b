-- Queues each task whose key is free. One submitted with 'debounce' whose key still has a queued task of its name gives
-- that task its payload and metadata instead, and pushes its due time.
-- A submit whose own task exists already was sent before and changes nothing.
-- @only sqlite: Postgres takes the key locks first and does the rest in one statement
-- @param tasks_json json
-- @param now_ms integer?
-- @returns id
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
insert into cairnq_tasks (
  id, name, queue, status, payload, metadata, max_attempts, max_crashes, crash_limit, priority, run_at_ms,
  parent_id, root_id, correlation_id, concurrency_key, created_at_ms, updated_at_ms
)
select
  coalesce(k.task_id, i.value->>'id'), i.value->>'name', i.value->>'queue', 'queued', i.value->'payload', i.value->'metadata',
  i.value->>'max_attempts', i.value->>'max_crashes', i.value->>'max_crashes', i.value->>'priority',
  min(
    coalesce(i.value->>'run_at_ms', now.ms + (i.value->>'delay_ms')),
    coalesce(t.created_at_ms + (i.value->>'max_delay_ms'), 9007199254740991)
  ),
  i.value->>'parent_id', coalesce(i.value->>'root_id', i.value->>'id'), i.value->>'correlation_id',
  ifnull(i.value->>'concurrency_key', ''), now.ms, now.ms
from now
cross join json_each(:tasks_json) i
left join cairnq_task_keys k on k.key = i.value->>'key'
left join cairnq_tasks t on t.id = k.task_id
where not exists (select 1 from cairnq_tasks own where own.id = i.value->>'id')
  and (k.key is null or (i.value->>'conflict' = 'debounce' and +t.status = 'queued' and t.name = i.value->>'name'))
on conflict (id) do update set
  payload = excluded.payload,
  metadata = excluded.metadata,
  concurrency_key = excluded.concurrency_key,
  run_at_ms = excluded.run_at_ms,
  updated_at_ms = excluded.updated_at_ms
returning id
