-- Queues the tasks of a list again that ended with a status up to the cutoff, as retry_task does.
-- It must follow lock_listed_keys in the same transaction. Rows are locked in the order of their ids.
-- @param ids_json json
-- @param status text
-- @param cutoff_ms integer
-- @param reset_attempt integer
-- @param now_ms integer?
-- @returns id, queue
with @now(),
listed as materialized (
  select task.id
  from cairnq_tasks task
  where task.id = any(array(select * from @texts(coalesce(@guard(), :ids_json))))
    and task.status = :status::text and task.status in ('failed', 'canceled')
    and coalesce(task.completed_at_ms, :cutoff_ms::bigint + 1) <= :cutoff_ms::bigint
  order by task.id
  for update
)
update cairnq_tasks task set
  status = 'queued',
  attempt = case :reset_attempt::integer when 0 then task.attempt else 0 end,
  crashes = case :reset_attempt::integer when 0 then task.crashes else 0 end,
  error = null,
  result = null,
  progress = null,
  message = null,
  worker_id = null,
  lease_until_ms = null,
  cancel_requested_at_ms = null,
  completed_at_ms = null,
  expires_at_ms = null,
  run_at_ms = now.ms,
  updated_at_ms = now.ms
from listed cross join now
where task.id = listed.id and @among(listed)
returning task.id, task.queue
