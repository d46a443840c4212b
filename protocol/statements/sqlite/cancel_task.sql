-- Cancels a queued task, and asks a running one to stop.
-- A task in any other status, one that has expired, or one that was asked before, is left alone and not returned.
-- @param id text?
-- @param key text?
-- @param now_ms integer?
-- @returns id
with @now()
update cairnq_tasks set
  status = case status when 'queued' then 'canceled' else status end,
  cancel_requested_at_ms = (select ms from now),
  completed_at_ms = case status when 'queued' then (select ms from now) else completed_at_ms end,
  updated_at_ms = (select ms from now)
where id = coalesce(@guard(), @id_or_key())
  and not @is_expired(cairnq_tasks, (select ms from now))
  and (+status = 'queued' or (+status = 'running' and cancel_requested_at_ms is null))
returning id
