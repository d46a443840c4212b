-- Cancels the queued tasks of a list, and asks the running ones to stop.
-- A task is left alone and not returned if it was created after the cutoff, if its status is not the one that is given,
-- or as cancel_task leaves it.
-- @param ids_json json
-- @param status text?
-- @param cutoff_ms integer
-- @param now_ms integer?
-- @returns id, status
with @now()
update cairnq_tasks set
  status = case status when 'queued' then 'canceled' else status end,
  cancel_requested_at_ms = (select ms from now),
  completed_at_ms = case status when 'queued' then (select ms from now) else completed_at_ms end,
  updated_at_ms = (select ms from now)
where id in (select value from json_each(coalesce(@guard(), :ids_json)))
  and +created_at_ms <= :cutoff_ms and +status = coalesce(:status, status)
  and not @is_expired(cairnq_tasks, (select ms from now))
  and (+status = 'queued' or (+status = 'running' and cancel_requested_at_ms is null))
returning id, status
