-- Takes every task whose lease expired from its owner: canceled if a cancel was requested, queued while attempts are
-- left and fewer of its leases expired than may, else failed. One that is known not to have started is queued where it
-- was, as if it had been released; each other lease becomes a row of the history.
-- The range of ids only makes the planner expect few rows, and so use the primary key.
-- @param now_ms integer?
-- @returns id, name, queue, attempt, status
with now as materialized (
  select coalesce(@guard()::bigint, :now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
locked as materialized (
  select
    t.id, t.attempt, t.max_attempts, t.worker_id, t.lease_until_ms, t.cancel_requested_at_ms, t.hold, t.priority, t.run_at_ms,
    t.crashes > 0 as has_crashed, least(t.crashes, greatest(t.attempt - 1::bigint, 0)) as crashes, t.crash_limit
  from cairnq_tasks t
  where t.status = 'running' and t.lease_until_ms is not null and t.lease_until_ms <= (select ms from now)
  order by t.lease_until_ms
  for update skip locked
),
judged as materialized (
  select l.*, coalesce(l.hold = l.worker_id, false) and (l.has_crashed or not exists (
      select 1 from locked a
      where a.worker_id = l.worker_id and a.hold = a.worker_id || '!' and not a.has_crashed
        and (-a.priority::bigint, a.run_at_ms, a.id) >= (-l.priority::bigint, l.run_at_ms, l.id)
    )) as held
  from locked l
),
expired as materialized (
  select
    j.*,
    case
      when j.cancel_requested_at_ms is not null then 'canceled'
      when j.held or (j.attempt < j.max_attempts and (j.crash_limit is null or j.crashes + 1 < j.crash_limit)) then 'queued'
      else 'failed'
    end as status
  from judged j
),
recorded as (
  insert into wadi_failures (task_id, failed_at_ms, attempt, kind, worker_id, error)
  select e.id, now.ms, e.attempt, 'crash', e.worker_id, jsonb_build_object(
    'type', 'LeaseExpired',
    'code', 'lease_expired',
    'message', 'the lease of attempt ' || e.attempt || ' of ' || e.max_attempts || ' ran out ' || now.ms::numeric - e.lease_until_ms
      || ' ms before it was noticed: its worker was killed, froze or ran out of memory',
    'retryable', e.status = 'queued',
    'details', jsonb_build_object('lease_until_ms', e.lease_until_ms)
  )
  from expired e cross join now
  where not e.held
  on conflict do nothing
)
update cairnq_tasks t set
  status = e.status,
  error = case when e.status <> 'failed' then t.error when t.attempt < t.max_attempts then jsonb_build_object(
    'type', 'TooManyCrashes',
    'code', 'max_crashes',
    'message', 'its worker vanished ' || e.crashes + 1 || ' times: killed, frozen or out of memory',
    'retryable', false,
    'details', '{}'::jsonb
  ) else jsonb_build_object(
    'type', 'LeaseExpired',
    'code', 'lease_expired',
    'message', 'the lease ran out on attempt ' || t.attempt || ' of ' || t.max_attempts,
    'retryable', false,
    'details', '{}'::jsonb
  ) end,
  attempt = case when e.held and e.status = 'queued' then t.attempt - 1 else t.attempt end,
  crashes = case when e.held then t.crashes else e.crashes + 1 end,
  hold = null,
  worker_id = case e.status when 'queued' then null else t.worker_id end,
  progress = case e.status when 'queued' then null else t.progress end,
  message = case e.status when 'queued' then null else t.message end,
  run_at_ms = case when e.status = 'queued' and not e.held then now.ms else t.run_at_ms end,
  completed_at_ms = case e.status when 'queued' then null else now.ms end,
  lease_until_ms = null,
  updated_at_ms = now.ms
from expired e cross join now
where t.id = e.id and t.id = any(array(select id from expired)) and t.id between '' and (select max(id) from expired)
returning t.id, t.name, t.queue, t.attempt, t.status
