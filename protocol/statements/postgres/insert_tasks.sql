-- Queues tasks without a key. An id that exists already is left alone, so a resent submit adds nothing.
-- @param tasks_json json
-- @param now_ms integer?
-- @returns id, created_at_ms, run_at_ms
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
)
insert into cairnq_tasks (
  id, name, queue, status, payload, metadata, max_attempts, priority, run_at_ms,
  parent_id, root_id, correlation_id, created_at_ms, updated_at_ms
)
select
  item->>'id', item->>'name', item->>'queue', 'queued', item->'payload', item->'metadata',
  (item->>'max_attempts')::integer, (item->>'priority')::integer,
  coalesce((item->>'run_at_ms')::bigint, now.ms + (item->>'delay_ms')::bigint),
  item->>'parent_id', coalesce(item->>'root_id', item->>'id'), item->>'correlation_id', now.ms, now.ms
from now cross join jsonb_array_elements(:tasks_json::jsonb) as i(item)
on conflict (id) do nothing
returning id, created_at_ms, run_at_ms
