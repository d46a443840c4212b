-- Queues a failed or canceled task again, due now. Anything else is left alone.
-- @param id text?
-- @param key text?
-- @param reset_attempt integer
-- @param now_ms integer?
-- @returns id
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
)
update cairnq_tasks t set
  status = 'queued',
  attempt = case :reset_attempt::integer when 0 then t.attempt else 0 end,
  crashes = case :reset_attempt::integer when 0 then t.crashes else 0 end,
  error = null,
  result = null,
  progress = null,
  message = null,
  worker_id = null,
  lease_until_ms = null,
  cancel_requested_at_ms = null,
  completed_at_ms = null,
  run_at_ms = now.ms,
  updated_at_ms = now.ms
from now
where t.id = coalesce(@guard(), :id::text, (select k.task_id from cairnq_task_keys k where k.key = :key::text))
  and t.status in ('failed', 'canceled')
returning t.id
