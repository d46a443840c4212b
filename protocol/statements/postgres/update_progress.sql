-- Reports progress, a message or both of a task its owner still holds. Null leaves a field alone.
-- The coalesce around status and lease keeps a planner with stale statistics on the primary key.
-- @param id text
-- @param worker_id text
-- @param progress real?
-- @param message text?
-- @param now_ms integer?
-- @returns id, cancel_requested
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
)
update cairnq_tasks t set
  progress = coalesce(:progress::float8, t.progress),
  message = coalesce(:message::text, t.message),
  updated_at_ms = now.ms
from now
where t.id = coalesce(@guard(), :id::text)
  and coalesce(t.status, '') = 'running'
  and t.worker_id = :worker_id::text
  and coalesce(t.lease_until_ms, 0) > now.ms
returning t.id, (t.cancel_requested_at_ms is not null)::integer as cancel_requested
