-- Queues tasks without keys, which come in groups that share everything but id and payload.
-- An id that exists already is left alone, so a submit that is sent again adds nothing. A payload that is no object
-- comes as the only element of an array.
-- @param groups_json json
-- @param now_ms integer?
-- @returns nothing
with @now(),
groups as materialized (
  select
    item->'tasks' as tasks, item->>'name' as name, item->>'queue' as queue, item->'metadata' as metadata,
    (item->>'max_attempts')::integer as max_attempts, (item->>'max_crashes')::integer as max_crashes,
    (item->>'priority')::integer as priority,
    (item->>'run_at_ms')::bigint as run_at_ms, (item->>'delay_ms')::bigint as delay_ms,
    (item->>'expires_in_ms')::bigint as expires_in_ms,
    item->>'parent_id' as parent_id, item->>'root_id' as root_id, item->>'correlation_id' as correlation_id,
    coalesce(item->>'concurrency_key', '') as concurrency_key,
    (item->>'on_failed')::jsonb as on_failed
  from jsonb_array_elements(coalesce(@guard(), :groups_json)::jsonb) as items(item)
)
insert into cairnq_tasks (@new_task())
select
  task.key, shared.name, shared.queue, 'queued',
  case jsonb_typeof(task.value) when 'object' then task.value else task.value->0 end,
  shared.metadata, shared.max_attempts, shared.max_crashes, shared.max_crashes, shared.priority,
  coalesce(shared.run_at_ms, now.ms + shared.delay_ms),
  greatest(now.ms, coalesce(shared.run_at_ms, now.ms + shared.delay_ms)) + shared.expires_in_ms,
  shared.parent_id, coalesce(shared.root_id, task.key), shared.correlation_id, shared.concurrency_key,
  shared.on_failed, now.ms, now.ms
from groups shared cross join now cross join lateral jsonb_each(shared.tasks) task
on conflict (id) do nothing
