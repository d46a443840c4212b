-- Queues one task without a key. An id that exists already is left alone, so a resent submit adds nothing.
-- @param id text
-- @param name text
-- @param queue text
-- @param payload json
-- @param metadata json
-- @param max_attempts integer
-- @param max_crashes integer
-- @param priority integer
-- @param run_at_ms integer?
-- @param delay_ms integer
-- @param parent_id text?
-- @param root_id text?
-- @param correlation_id text?
-- @param concurrency_key text
-- @param now_ms integer?
-- @returns created_at_ms
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
)
insert into cairnq_tasks (
  id, name, queue, status, payload, metadata, max_attempts, max_crashes, crash_limit, priority, run_at_ms,
  parent_id, root_id, correlation_id, concurrency_key, created_at_ms, updated_at_ms
)
select
  coalesce(@guard(), :id::text), :name::text, :queue::text, 'queued', :payload::jsonb, :metadata::jsonb,
  :max_attempts::integer, :max_crashes::integer, :max_crashes::integer, :priority::integer, coalesce(:run_at_ms::bigint, ms + :delay_ms::bigint),
  :parent_id::text, coalesce(:root_id::text, :id::text), :correlation_id::text, :concurrency_key::text, ms, ms
from now
on conflict (id) do nothing
returning created_at_ms
