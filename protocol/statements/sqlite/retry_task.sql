-- Queues a failed or canceled task again, due now. Anything else is left alone.
-- @param id text?
-- @param key text?
-- @param reset_attempt integer
-- @param now_ms integer?
-- @returns id
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
update cairnq_tasks set
  status = 'queued',
  attempt = case +:reset_attempt when 0 then attempt else 0 end,
  crashes = case +:reset_attempt when 0 then crashes else 0 end,
  error = null,
  result = null,
  progress = null,
  message = null,
  worker_id = null,
  lease_until_ms = null,
  cancel_requested_at_ms = null,
  completed_at_ms = null,
  run_at_ms = (select ms from now),
  updated_at_ms = (select ms from now)
where id = coalesce(@guard(), :id, (select task_id from cairnq_task_keys where key = +:key))
  and +status in ('failed', 'canceled')
returning id
