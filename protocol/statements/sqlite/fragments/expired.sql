-- Tasks whose lease has expired. Held is what is known not to have started.
announced(worker_id, priority, run_at_ms, id) as materialized (
  select worker_id, -priority, run_at_ms, id
  from cairnq_tasks
  where status = 'running' and lease_until_ms is not null and lease_until_ms <= (select ms from now)
    and hold = worker_id || '!' and crashes = 0
),
expired as (
  select
    t.id, t.attempt, t.max_attempts, t.worker_id, t.lease_until_ms, t.cancel_requested_at_ms,
    min(t.crashes, max(t.attempt - 1, 0)) as crashes,
    ifnull(t.crash_limit, 9e999) as crash_limit,
    ifnull(t.hold = t.worker_id, 0) and (t.crashes > 0 or not exists (
      select 1 from announced a
      where a.worker_id = t.worker_id and (a.priority, a.run_at_ms, a.id) >= (-t.priority, t.run_at_ms, t.id)
    )) as held
  from cairnq_tasks t
  where t.status = 'running' and t.lease_until_ms is not null and t.lease_until_ms <= (select ms from now)
)
