-- Ends attempts that their owners still hold, each with its own outcome:
-- 'complete', 'succeed' (even if a cancel was requested), 'retry', 'fail' or 'release'.
-- 'start' ends nothing: it announces that a held task may start, and all of its claim before it.
-- A requested cancel wins over every outcome but 'succeed'; the error of a failure is stored all the same. An id that is absent from the result was lost.
-- @param settlements_json json
-- @param now_ms integer?
-- @returns id, status
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
settled as materialized (
  select
    t.id,
    s.value->'result' as result,
    s.value->'error' as error,
    coalesce(s.value->>'delay_ms', 0) as delay_ms,
    s.value->>'outcome' = 'release' as released,
    case
      when s.value->>'outcome' = 'start' then 'running'
      when t.cancel_requested_at_ms is not null and s.value->>'outcome' <> 'succeed' then 'canceled'
      when s.value->>'outcome' in ('complete', 'succeed') then 'succeeded'
      when s.value->>'outcome' = 'release' then 'queued'
      when s.value->>'outcome' = 'retry' and t.attempt < t.max_attempts then 'queued'
      else 'failed'
    end as status
  from now cross join json_each(coalesce(@guard(), :settlements_json)) s cross join cairnq_tasks t on t.id = s.value->>'id'
  where +t.status = 'running' and +t.worker_id = s.value->>'worker_id' and +t.attempt = s.value->>'attempt'
    and +t.lease_until_ms > now.ms
)
update cairnq_tasks as t set
  status = s.status,
  result = case s.status when 'succeeded' then s.result else t.result end,
  error = case s.status when 'succeeded' then null else coalesce(s.error, t.error) end,
  progress = case s.status when 'succeeded' then 1 when 'queued' then null else t.progress end,
  message = case s.status when 'queued' then null else t.message end,
  attempt = t.attempt - (s.status = 'queued' and s.released),
  worker_id = case s.status when 'queued' then null else t.worker_id end,
  hold = case s.status when 'running' then t.worker_id || '!' end,
  lease_until_ms = case s.status when 'running' then t.lease_until_ms end,
  run_at_ms = case when s.status <> 'queued' or (s.released and s.delay_ms = 0) then t.run_at_ms else (select ms from now) + s.delay_ms end,
  completed_at_ms = case when s.status in ('queued', 'running') then null else (select ms from now) end,
  updated_at_ms = (select ms from now)
from settled s
where t.id = s.id
returning id, status
