-- Ends attempts that their owners still hold, each with its own outcome:
-- 'complete', 'succeed' (even if a cancel was requested), 'retry', 'fail' or 'release'.
-- 'start' ends nothing: it announces that a held task may start, and all of its claim before it.
-- A requested cancel wins over every outcome but 'succeed'; the error of a failure is stored all the same. An id that is absent from the result was lost.
-- Each attempt that failed becomes a row of the history.
-- Rows are locked in the order of their ids, so that overlapping calls cannot deadlock.
-- The coalesce and the range of ids keep a planner with poor statistics on the primary key.
-- @param settlements_json json
-- @param now_ms integer?
-- @returns id, status
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
settlements as materialized (
  select item, item->>'id' as id, item->>'outcome' as outcome
  from jsonb_array_elements(coalesce(@guard(), :settlements_json)::jsonb) as i(item)
  order by id
),
settled as materialized (
  select
    s.id,
    t.attempt,
    t.worker_id,
    s.item->'result' as result,
    s.item->'error' as error,
    coalesce((s.item->>'delay_ms')::bigint, 0) as delay_ms,
    s.outcome = 'release' as released,
    s.outcome in ('retry', 'fail') and t.cancel_requested_at_ms is null as broke,
    case
      when s.outcome = 'start' then 'running'
      when t.cancel_requested_at_ms is not null and s.outcome <> 'succeed' then 'canceled'
      when s.outcome in ('complete', 'succeed') then 'succeeded'
      when s.outcome = 'release' then 'queued'
      when s.outcome = 'retry' and t.attempt < t.max_attempts then 'queued'
      else 'failed'
    end as status
  from settlements s
  cross join lateral (
    select t.attempt, t.worker_id, t.max_attempts, t.cancel_requested_at_ms from cairnq_tasks t
    where t.id = s.id
      and coalesce(t.status, '') = 'running'
      and t.worker_id = s.item->>'worker_id'
      and t.attempt = (s.item->>'attempt')::integer
      and coalesce(t.lease_until_ms, 0) > (select ms from now)
    for update
  ) t
),
recorded as (
  insert into wadi_failures (task_id, failed_at_ms, attempt, kind, worker_id, error)
  select s.id, now.ms, s.attempt, 'error', s.worker_id, s.error
  from settled s cross join now
  where s.broke
  on conflict do nothing
)
update cairnq_tasks t set
  status = s.status,
  result = case s.status when 'succeeded' then s.result else t.result end,
  error = case s.status when 'succeeded' then null else coalesce(s.error, t.error) end,
  progress = case s.status when 'succeeded' then 1 when 'queued' then null else t.progress end,
  message = case s.status when 'queued' then null else t.message end,
  attempt = case when s.status = 'queued' and s.released then t.attempt - 1 else t.attempt end,
  worker_id = case s.status when 'queued' then null else t.worker_id end,
  hold = case s.status when 'running' then t.worker_id || '!' end,
  lease_until_ms = case s.status when 'running' then t.lease_until_ms end,
  run_at_ms = case when s.status <> 'queued' or (s.released and s.delay_ms = 0) then t.run_at_ms else now.ms + s.delay_ms end,
  completed_at_ms = case when s.status in ('queued', 'running') then null else now.ms end,
  updated_at_ms = now.ms
from settled s cross join now
where t.id = s.id
  and t.id = any(array(select id from settled)) and t.id between '' and (select max(id) from settled)
returning t.id, t.status
