-- Queues tasks without keys, which come in groups that share everything but id and payload.
-- An id that exists already is left alone, so a submit that is sent again adds nothing. A payload that is no object
-- comes as the only element of an array, of which json_each gives the text: of a scalar it gives the SQL value.
-- @param groups_json json
-- @param now_ms integer?
-- @returns nothing
with @now(),
groups as materialized (
  select
    value as json, value->>'name' as name, value->>'queue' as queue, value->'metadata' as metadata,
    value->>'max_attempts' as max_attempts, value->>'max_crashes' as max_crashes, value->>'priority' as priority,
    value->>'run_at_ms' as run_at_ms, value->>'delay_ms' as delay_ms,
    value->>'expires_in_ms' as expires_in_ms,
    value->>'parent_id' as parent_id, value->>'root_id' as root_id, value->>'correlation_id' as correlation_id,
    ifnull(value->>'concurrency_key', '') as concurrency_key, value->>'on_failed' as on_failed
  from json_each(coalesce(@guard(), :groups_json))
)
insert into cairnq_tasks (@new_task())
select
  task.key, shared.name, shared.queue, 'queued',
  case task.type when 'object' then task.value else substr(task.value, 2, length(task.value) - 2) end,
  shared.metadata, shared.max_attempts, shared.max_crashes, shared.max_crashes, shared.priority,
  coalesce(shared.run_at_ms, now.ms + shared.delay_ms),
  max(now.ms, coalesce(shared.run_at_ms, now.ms + shared.delay_ms)) + shared.expires_in_ms,
  shared.parent_id, coalesce(shared.root_id, task.key), shared.correlation_id, shared.concurrency_key,
  shared.on_failed, now.ms, now.ms
from now cross join groups shared cross join json_each(shared.json, '$.tasks') task
where true
on conflict (id) do nothing
