-- Cancels a queued task at once and asks a running one to stop. Anything else is left alone.
-- @param id text?
-- @param key text?
-- @param now_ms integer?
-- @returns id
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
update cairnq_tasks set
  status = case status when 'queued' then 'canceled' else status end,
  cancel_requested_at_ms = (select ms from now),
  completed_at_ms = case status when 'queued' then (select ms from now) else completed_at_ms end,
  updated_at_ms = (select ms from now)
where id = coalesce(@guard(), :id, (select task_id from cairnq_task_keys where key = +:key))
  and (+status = 'queued' or (+status = 'running' and cancel_requested_at_ms is null))
returning id
