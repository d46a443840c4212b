-- Takes every task whose lease has expired from its owner: canceled if a cancel was requested, queued while it has
-- attempts left and fewer crashes than it may have, else failed. A task that is known not to have started is queued in
-- its place, as if its owner had released it; each other lease becomes a row of the history.
--
-- A task is `held`, that is known not to have started, if its hold is its owner's token and its owner announced no task
-- at or behind it in the order of the claim. A task that crashed before runs alone, so no announcement speaks of it.
-- @param scope text?
-- @param now_ms integer?
-- @returns id, name, queue, attempt, status
with now as materialized (select coalesce(@guard()::bigint, @scope_guard()::bigint, @present()) as ms),
locked as materialized (
  select
    id, attempt, max_attempts, worker_id, lease_until_ms, cancel_requested_at_ms,
    hold, priority, run_at_ms, crashes > 0 as has_crashed,
    least(crashes, greatest(attempt - 1::bigint, 0)) as crashes, crash_limit
  from cairnq_tasks
  where status = 'running' and lease_until_ms is not null and lease_until_ms <= (select ms from now)
  order by lease_until_ms
  for update skip locked
),
judged as materialized (
  select *, coalesce(hold = worker_id, false) and (has_crashed or not exists (
      select 1 from locked announced
      where announced.worker_id = locked.worker_id and announced.hold = announced.worker_id || '!'
        and not announced.has_crashed
        and (-announced.priority::bigint, announced.run_at_ms, announced.id)
          >= (-locked.priority::bigint, locked.run_at_ms, locked.id)
    )) as held
  from locked
),
expired as materialized (
  select
    *,
    case
      when cancel_requested_at_ms is not null then 'canceled'
      when held or (attempt < max_attempts and (crash_limit is null or crashes + 1 < crash_limit)) then 'queued'
      else 'failed'
    end as status
  from judged
),
recorded as (
  insert into wadi_failures (task_id, failed_at_ms, attempt, kind, worker_id, error)
  select id, now.ms, attempt, 'crash', worker_id, jsonb_build_object(
    'type', 'LeaseExpired',
    'code', 'lease_expired',
    'message', 'the lease of attempt ' || attempt || ' of ' || max_attempts || ' expired '
      || now.ms::numeric - lease_until_ms
      || ' ms before it was noticed: its worker was killed, froze or ran out of memory',
    'retryable', status = 'queued',
    'details', jsonb_build_object('lease_until_ms', lease_until_ms)
  )
  from expired cross join now
  where not held
  on conflict do nothing
)
update cairnq_tasks task set
  status = expired.status,
  error = case
    when expired.status <> 'failed' then task.error
    when task.attempt < task.max_attempts then jsonb_build_object(
      'type', 'TooManyCrashes',
      'code', 'max_crashes',
      'message', 'its worker vanished ' || expired.crashes + 1 || ' times: killed, frozen or out of memory',
      'retryable', false,
      'details', '{}'::jsonb
    )
    else jsonb_build_object(
      'type', 'LeaseExpired',
      'code', 'lease_expired',
      'message', 'the lease expired on attempt ' || task.attempt || ' of ' || task.max_attempts,
      'retryable', false,
      'details', '{}'::jsonb
    )
  end,
  attempt = case when expired.held and expired.status = 'queued' then task.attempt - 1 else task.attempt end,
  crashes = case when expired.held then task.crashes else expired.crashes + 1 end,
  hold = null,
  worker_id = case expired.status when 'queued' then null else task.worker_id end,
  progress = case expired.status when 'queued' then null else task.progress end,
  message = case expired.status when 'queued' then null else task.message end,
  run_at_ms = case when expired.status = 'queued' and not expired.held then now.ms else task.run_at_ms end,
  completed_at_ms = case expired.status when 'queued' then null else now.ms end,
  lease_until_ms = null,
  updated_at_ms = now.ms
from expired cross join now
where task.id = expired.id and @among(expired)
returning task.id, task.name, task.queue, task.attempt, task.status
