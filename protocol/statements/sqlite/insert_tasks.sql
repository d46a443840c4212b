-- Queues tasks without a key. They come in groups that share everything but id and payload. A payload that is no object
-- comes as the only element of an array, whose text json_each gives as it is: of a scalar it gives the SQL value.
-- An id that exists already is left alone, so a resent submit adds nothing.
-- @param groups_json json
-- @param now_ms integer?
-- @returns nothing
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
groups as materialized (
  select
    value as json, value->>'name' as name, value->>'queue' as queue, value->'metadata' as metadata,
    value->>'max_attempts' as max_attempts, value->>'max_crashes' as max_crashes, value->>'priority' as priority,
    value->>'run_at_ms' as run_at_ms, value->>'delay_ms' as delay_ms,
    value->>'parent_id' as parent_id, value->>'root_id' as root_id, value->>'correlation_id' as correlation_id,
    ifnull(value->>'concurrency_key', '') as concurrency_key
  from json_each(coalesce(@guard(), :groups_json))
)
insert into cairnq_tasks (
  id, name, queue, status, payload, metadata, max_attempts, max_crashes, crash_limit, priority, run_at_ms,
  parent_id, root_id, correlation_id, concurrency_key, created_at_ms, updated_at_ms
)
select
  t.key, g.name, g.queue, 'queued',
  case t.type when 'object' then t.value else substr(t.value, 2, length(t.value) - 2) end,
  g.metadata,
  g.max_attempts, g.max_crashes, g.max_crashes, g.priority, coalesce(g.run_at_ms, now.ms + g.delay_ms),
  g.parent_id, coalesce(g.root_id, t.key), g.correlation_id, g.concurrency_key, now.ms, now.ms
from now cross join groups g cross join json_each(g.json, '$.tasks') t
where true
on conflict (id) do nothing
