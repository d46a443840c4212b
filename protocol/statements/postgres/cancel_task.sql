-- Cancels a queued task at once and asks a running one to stop. Anything else is left alone.
-- The worker of a running task is notified: pg_notify returns nothing, which is added to the id.
-- @param id text?
-- @param key text?
-- @param now_ms integer?
-- @returns id
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
)
update cairnq_tasks t set
  status = case t.status when 'queued' then 'canceled' else t.status end,
  cancel_requested_at_ms = now.ms,
  completed_at_ms = case t.status when 'queued' then now.ms else t.completed_at_ms end,
  updated_at_ms = now.ms
from now
where t.id = coalesce(@guard(), :id::text, (select k.task_id from cairnq_task_keys k where k.key = :key::text))
  and (t.status = 'queued' or (t.status = 'running' and t.cancel_requested_at_ms is null))
returning t.id || coalesce(case t.status when 'running' then pg_notify('wadi_canceled', t.id)::text end, '') as id
