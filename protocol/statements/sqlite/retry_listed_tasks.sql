-- Queues the tasks of a list again that ended with a status up to the cutoff, as retry_task does.
-- @param ids_json json
-- @param status text
-- @param cutoff_ms integer
-- @param reset_attempt integer
-- @param now_ms integer?
-- @returns id, queue
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
where id in (select value from json_each(coalesce(@guard(), :ids_json)))
  and +status = :status and +status in ('failed', 'canceled') and +completed_at_ms <= :cutoff_ms
returning id, queue
