-- Reports progress, a message or both of a task that its owner still holds. Null leaves a field as it is.
-- It extends no lease. No row means that the lease is lost.
-- @param id text
-- @param worker_id text
-- @param progress real?
-- @param message text?
-- @param now_ms integer?
-- @returns id, cancel_requested
with @now()
update cairnq_tasks set
  progress = coalesce(:progress, progress),
  message = coalesce(:message, message),
  updated_at_ms = (select ms from now)
where id = coalesce(@guard(), :id) and @held(+:worker_id, (select ms from now))
returning id, cancel_requested_at_ms is not null as cancel_requested
