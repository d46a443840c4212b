-- Queues each submitted task whose key is free.
-- A submit with 'debounce' whose key still has a queued task of its name gives that task its payload and metadata
-- instead, and moves its due time, at most to its greatest delay. A submit that was sent before changes nothing.
-- @only sqlite: Postgres takes the key locks first and does the rest in one statement
-- @param tasks_json json
-- @param now_ms integer?
-- @returns id
with @now()
insert into cairnq_tasks (@new_task())
select
  coalesce(task_key.task_id, item.value->>'id'), item.value->>'name', item.value->>'queue', 'queued',
  item.value->'payload', item.value->'metadata',
  item.value->>'max_attempts', item.value->>'max_crashes', item.value->>'max_crashes', item.value->>'priority',
  min(
    coalesce(item.value->>'run_at_ms', now.ms + (item.value->>'delay_ms')),
    coalesce(task.created_at_ms + (item.value->>'max_delay_ms'), 9007199254740991)
  ),
  max(now.ms, min(
    coalesce(item.value->>'run_at_ms', now.ms + (item.value->>'delay_ms')),
    coalesce(task.created_at_ms + (item.value->>'max_delay_ms'), 9007199254740991)
  )) + (item.value->>'expires_in_ms'),
  item.value->>'parent_id', coalesce(item.value->>'root_id', item.value->>'id'), item.value->>'correlation_id',
  ifnull(item.value->>'concurrency_key', ''), item.value->>'on_failed', now.ms, now.ms
from now
cross join json_each(:tasks_json) item
left join cairnq_task_keys task_key on task_key.key = item.value->>'key'
left join cairnq_tasks task on task.id = task_key.task_id
where not @is_sent(item.value)
  and (
    task_key.key is null
    or (item.value->>'conflict' = 'debounce' and +task.status = 'queued' and task.name = item.value->>'name')
  )
on conflict (id) do update set
  payload = excluded.payload,
  metadata = excluded.metadata,
  concurrency_key = excluded.concurrency_key,
  on_failed = excluded.on_failed,
  run_at_ms = excluded.run_at_ms,
  expires_at_ms = excluded.expires_at_ms,
  updated_at_ms = excluded.updated_at_ms
returning id
