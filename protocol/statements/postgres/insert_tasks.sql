-- Queues tasks without a key. They come in groups that share everything but id and payload. A payload that is no object
-- comes as the only element of an array.
-- An id that exists already is left alone, so a resent submit adds nothing.
-- @param groups_json json
-- @param now_ms integer?
-- @returns nothing
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
groups as materialized (
  select
    g->'tasks' as tasks, g->>'name' as name, g->>'queue' as queue, g->'metadata' as metadata,
    (g->>'max_attempts')::integer as max_attempts, (g->>'max_crashes')::integer as max_crashes, (g->>'priority')::integer as priority,
    (g->>'run_at_ms')::bigint as run_at_ms, (g->>'delay_ms')::bigint as delay_ms,
    g->>'parent_id' as parent_id, g->>'root_id' as root_id, g->>'correlation_id' as correlation_id,
    coalesce(g->>'concurrency_key', '') as concurrency_key
  from jsonb_array_elements(coalesce(@guard(), :groups_json)::jsonb) as i(g)
)
insert into cairnq_tasks (
  id, name, queue, status, payload, metadata, max_attempts, max_crashes, crash_limit, priority, run_at_ms,
  parent_id, root_id, correlation_id, concurrency_key, created_at_ms, updated_at_ms
)
select
  t.key, g.name, g.queue, 'queued', case jsonb_typeof(t.value) when 'object' then t.value else t.value->0 end, g.metadata,
  g.max_attempts, g.max_crashes, g.max_crashes, g.priority, coalesce(g.run_at_ms, now.ms + g.delay_ms),
  g.parent_id, coalesce(g.root_id, t.key), g.correlation_id, g.concurrency_key, now.ms, now.ms
from groups g cross join now cross join lateral jsonb_each(g.tasks) t
on conflict (id) do nothing
