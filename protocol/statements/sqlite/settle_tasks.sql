-- Ends attempts that their owners still hold, each with its own outcome: 'complete', 'succeed' (even if a cancel was
-- requested), 'retry', 'fail' or 'release'. 'start' ends nothing: it announces that a held task may start, and all of
-- its claim before it. A task that is absent from the result was lost.
--
-- A requested cancel wins over every outcome but 'succeed'; the error of a failure is stored all the same.
-- @param settlements_json json
-- @param now_ms integer?
-- @returns id, status
with @now(),
settled as materialized (
  select
    task.id,
    item.value->'result' as result,
    item.value->'error' as error,
    coalesce(item.value->>'delay_ms', 0) as delay_ms,
    item.value->>'outcome' = 'release' as released,
    case
      when item.value->>'outcome' = 'start' then 'running'
      when task.cancel_requested_at_ms is not null and item.value->>'outcome' <> 'succeed' then 'canceled'
      when item.value->>'outcome' in ('complete', 'succeed') then 'succeeded'
      when item.value->>'outcome' = 'release' then 'queued'
      when item.value->>'outcome' = 'retry' and task.attempt < task.max_attempts then 'queued'
      else 'failed'
    end as status
  from now
  cross join json_each(coalesce(@guard(), :settlements_json)) item
  cross join cairnq_tasks task on task.id = item.value->>'id'
  where @held(item.value->>'worker_id', now.ms) and +task.attempt = item.value->>'attempt'
)
update cairnq_tasks as task set
  status = settled.status,
  result = case settled.status when 'succeeded' then settled.result else task.result end,
  error = case settled.status when 'succeeded' then null else coalesce(settled.error, task.error) end,
  progress = case settled.status when 'succeeded' then 1 when 'queued' then null else task.progress end,
  message = case settled.status when 'queued' then null else task.message end,
  attempt = task.attempt - (settled.status = 'queued' and settled.released),
  worker_id = case settled.status when 'queued' then null else task.worker_id end,
  hold = case settled.status when 'running' then task.worker_id || '!' end,
  lease_until_ms = case settled.status when 'running' then task.lease_until_ms end,
  run_at_ms = case
    when settled.status <> 'queued' or (settled.released and settled.delay_ms = 0) then task.run_at_ms
    else (select ms from now) + settled.delay_ms
  end,
  expires_at_ms = case when settled.released and settled.delay_ms > 0 then null else task.expires_at_ms end,
  completed_at_ms = case when settled.status in ('queued', 'running') then null else (select ms from now) end,
  updated_at_ms = (select ms from now)
from settled
where task.id = settled.id
returning id, status
