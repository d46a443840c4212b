-- Cancels a queued task, and asks a running one to stop and notifies its worker.
-- A task in any other status, one that has expired, or one that was asked before, is left alone and not returned.
-- @param id text?
-- @param key text?
-- @param now_ms integer?
-- @returns id
with @now()
update cairnq_tasks set
  status = case status when 'queued' then 'canceled' else status end,
  cancel_requested_at_ms = now.ms,
  completed_at_ms = case status when 'queued' then now.ms else completed_at_ms end,
  updated_at_ms = now.ms
from now
where id = coalesce(@guard(), @id_or_key())
  and not @is_expired(cairnq_tasks, (select ms from now))
  and (status = 'queued' or (status = 'running' and cancel_requested_at_ms is null))
returning @canceled_id(cairnq_tasks)
