-- Queues a failed, canceled or expired task again, due now and with its history cleared from the row.
-- A task in any other status is left alone and not returned. With reset_attempt 0 it goes on counting its attempts and
-- crashes, else they begin at 0. It expires no more.
-- @param id text?
-- @param key text?
-- @param reset_attempt integer
-- @param now_ms integer?
-- @returns id
with @now()
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
  expires_at_ms = null,
  run_at_ms = (select ms from now),
  updated_at_ms = (select ms from now)
where id = coalesce(@guard(), @id_or_key()) and @status_of(cairnq_tasks, (select ms from now)) in ('failed', 'canceled')
returning id
