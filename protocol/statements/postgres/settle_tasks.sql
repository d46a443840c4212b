-- Ends attempts that their owners still hold, each with its own outcome: 'complete', 'succeed' (even if a cancel was
-- requested), 'retry', 'fail' or 'release'. 'start' ends nothing: it announces that a held task may start, and all of
-- its claim before it. A task that is absent from the result was lost.
--
-- A requested cancel wins over every outcome but 'succeed'; the error of a failure is stored all the same. Each attempt
-- that failed becomes a row of the history. Rows are locked in the order of their ids, so that calls that overlap never
-- deadlock.
-- @param settlements_json json
-- @param now_ms integer?
-- @returns id, status
with @now(),
settlements as materialized (
  select item, item->>'id' as id, item->>'outcome' as outcome
  from jsonb_array_elements(coalesce(@guard(), :settlements_json)::jsonb) as items(item)
  order by id
),
settled as materialized (
  select
    settlement.id,
    held.attempt,
    held.worker_id,
    settlement.item->'result' as result,
    settlement.item->'error' as error,
    coalesce((settlement.item->>'delay_ms')::bigint, 0) as delay_ms,
    settlement.outcome = 'release' as released,
    settlement.outcome in ('retry', 'fail') and held.cancel_requested_at_ms is null as has_failed,
    case
      when settlement.outcome = 'start' then 'running'
      when held.cancel_requested_at_ms is not null and settlement.outcome <> 'succeed' then 'canceled'
      when settlement.outcome in ('complete', 'succeed') then 'succeeded'
      when settlement.outcome = 'release' then 'queued'
      when settlement.outcome = 'retry' and held.attempt < held.max_attempts then 'queued'
      else 'failed'
    end as status
  from settlements settlement
  cross join lateral (
    select attempt, worker_id, max_attempts, cancel_requested_at_ms from cairnq_tasks
    where id = settlement.id and @held(settlement.item->>'worker_id', (select ms from now))
      and attempt = (settlement.item->>'attempt')::integer
    for update
  ) held
),
recorded as (
  insert into wadi_failures (task_id, failed_at_ms, attempt, kind, worker_id, error)
  select id, now.ms, attempt, 'error', worker_id, error
  from settled cross join now
  where has_failed
  on conflict do nothing
)
update cairnq_tasks task set
  status = settled.status,
  result = case settled.status when 'succeeded' then settled.result else task.result end,
  error = case settled.status when 'succeeded' then null else coalesce(settled.error, task.error) end,
  progress = case settled.status when 'succeeded' then 1 when 'queued' then null else task.progress end,
  message = case settled.status when 'queued' then null else task.message end,
  attempt = case when settled.status = 'queued' and settled.released then task.attempt - 1 else task.attempt end,
  worker_id = case settled.status when 'queued' then null else task.worker_id end,
  hold = case settled.status when 'running' then task.worker_id || '!' end,
  lease_until_ms = case settled.status when 'running' then task.lease_until_ms end,
  run_at_ms = case
    when settled.status <> 'queued' or (settled.released and settled.delay_ms = 0) then task.run_at_ms
    else now.ms + settled.delay_ms
  end,
  expires_at_ms = case when settled.released and settled.delay_ms > 0 then null else task.expires_at_ms end,
  completed_at_ms = case when settled.status in ('queued', 'running') then null else now.ms end,
  updated_at_ms = now.ms
from settled cross join now
where task.id = settled.id and @among(settled)
returning task.id, task.status
