-- Ends an attempt as succeeded, in a batch that fence_lease opened.
-- The fence has checked that the lease had not expired, so the time is not looked at again: the application's slow
-- statements in between must not leave their rows behind without the settlement.
-- @param id text
-- @param worker_id text
-- @param result json
-- @param now_ms integer?
-- @returns id
with @now()
update cairnq_tasks set
  status = 'succeeded',
  result = :result::jsonb,
  error = null,
  progress = 1,
  lease_until_ms = null,
  completed_at_ms = now.ms,
  updated_at_ms = now.ms
from now
where id = :id and coalesce(status, '') = 'running' and worker_id = :worker_id
returning id
