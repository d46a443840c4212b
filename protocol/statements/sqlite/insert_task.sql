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
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
insert into cairnq_tasks (
  id, name, queue, status, payload, metadata, max_attempts, max_crashes, crash_limit, priority, run_at_ms,
  parent_id, root_id, correlation_id, concurrency_key, created_at_ms, updated_at_ms
)
select
  coalesce(@guard(), :id), :name, :queue, 'queued', :payload, :metadata, :max_attempts, :max_crashes, :max_crashes, :priority, coalesce(:run_at_ms, ms + :delay_ms),
  :parent_id, coalesce(:root_id, :id), :correlation_id, :concurrency_key, ms, ms
from now
where true
on conflict (id) do nothing
returning created_at_ms
