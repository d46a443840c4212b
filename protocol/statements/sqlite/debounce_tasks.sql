-- Gives the queued task behind each key that is submitted with 'debounce' the newest payload, and pushes its due time.
-- A submit whose own task exists already was sent before and changes nothing.
-- @param tasks_json json
-- @param now_ms integer?
-- @returns id
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
submitted as materialized (
  select
    k.task_id, i.value->>'name' as name, i.value->'payload' as payload, i.value->'metadata' as metadata,
    now.ms + (i.value->>'delay_ms') as run_at_ms, i.value->>'max_delay_ms' as max_delay_ms,
    ifnull(i.value->>'concurrency_key', '') as concurrency_key
  from now
  cross join json_each(:tasks_json) i
  cross join cairnq_task_keys k on k.key = i.value->>'key'
  where i.value->>'conflict' = 'debounce'
    and not exists (select 1 from cairnq_tasks own where own.id = i.value->>'id')
)
update cairnq_tasks as t set
  payload = s.payload,
  metadata = s.metadata,
  concurrency_key = s.concurrency_key,
  run_at_ms = min(s.run_at_ms, coalesce(t.created_at_ms + s.max_delay_ms, s.run_at_ms)),
  updated_at_ms = (select ms from now)
from submitted s
where t.id = s.task_id and +t.status = 'queued' and t.name = s.name
returning id
