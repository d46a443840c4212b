-- Takes every task whose lease ran out from its owner: canceled if a cancel was requested, queued
-- while attempts are left, else failed.
-- The range of ids only makes the planner expect few rows, and so use the primary key.
-- @param now_ms integer?
-- @returns id, status
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
expired as (
  select t.id
  from cairnq_tasks t
  where t.status = 'running' and t.lease_until_ms is not null and t.lease_until_ms <= (select ms from now)
  order by t.lease_until_ms
  for update skip locked
)
update cairnq_tasks t set
  status = case
    when t.cancel_requested_at_ms is not null then 'canceled'
    when t.attempt < t.max_attempts then 'queued'
    else 'failed'
  end,
  error = case
    when t.cancel_requested_at_ms is null and t.attempt >= t.max_attempts then jsonb_build_object(
      'type', 'LeaseExpired',
      'code', 'lease_expired',
      'message', 'the lease ran out on attempt ' || t.attempt || ' of ' || t.max_attempts,
      'retryable', false,
      'details', null
    )
    else t.error
  end,
  worker_id = case when t.cancel_requested_at_ms is null and t.attempt < t.max_attempts then null else t.worker_id end,
  progress = case when t.cancel_requested_at_ms is null and t.attempt < t.max_attempts then null else t.progress end,
  message = case when t.cancel_requested_at_ms is null and t.attempt < t.max_attempts then null else t.message end,
  run_at_ms = case
    when t.cancel_requested_at_ms is null and t.attempt < t.max_attempts then now.ms else t.run_at_ms
  end,
  completed_at_ms = case
    when t.cancel_requested_at_ms is null and t.attempt < t.max_attempts then null else now.ms
  end,
  lease_until_ms = null,
  updated_at_ms = now.ms
from now
where t.id = any(array(select id from expired)) and t.id between '' and (select max(id) from expired)
returning t.id, t.status
