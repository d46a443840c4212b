-- Reports progress, a message or both of a task its owner still holds. Null leaves a field alone.
-- @param id text
-- @param worker_id text
-- @param progress real?
-- @param message text?
-- @param now_ms integer?
-- @returns id, cancel_requested
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
update cairnq_tasks set
  progress = coalesce(:progress, progress),
  message = coalesce(:message, message),
  updated_at_ms = (select ms from now)
where id = coalesce(@guard(), :id)
  and +status = 'running' and +worker_id = +:worker_id and +lease_until_ms > (select ms from now)
returning id, cancel_requested_at_ms is not null as cancel_requested
