-- Ends an attempt as succeeded, in a batch that `fence_lease` opened: the fence has looked at the lease's time, and
-- what ran since then must not change the answer.
-- @param id text
-- @param worker_id text
-- @param result json
-- @param now_ms integer?
-- @returns id
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
)
update cairnq_tasks t set
  status = 'succeeded',
  result = :result::jsonb,
  error = null,
  progress = 1,
  lease_until_ms = null,
  completed_at_ms = now.ms,
  updated_at_ms = now.ms
from now
where t.id = :id and coalesce(t.status, '') = 'running' and t.worker_id = :worker_id
returning t.id
