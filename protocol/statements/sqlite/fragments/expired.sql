-- The table `expired`: the running tasks whose lease has expired. A task is `held` if it is known not to have started:
-- its hold is its owner's token, and its owner announced no task at or behind it in the order of the claim. A task that
-- crashed before runs alone, so no announcement speaks of it. A task that is not held `may_run_again` or has failed.
announced(worker_id, priority, run_at_ms, id) as materialized (
  select worker_id, -priority, run_at_ms, id
  from cairnq_tasks
  where status = 'running' and lease_until_ms is not null and lease_until_ms <= (select ms from now)
    and hold = worker_id || '!' and crashes = 0
),
counted as (
  select *, min(crashes, max(attempt - 1, 0)) as earlier_crashes
  from cairnq_tasks
  where status = 'running' and lease_until_ms is not null and lease_until_ms <= (select ms from now)
),
expired as (
  select
    id, attempt, max_attempts, worker_id, lease_until_ms, cancel_requested_at_ms, earlier_crashes,
    attempt < max_attempts and earlier_crashes + 1 < ifnull(crash_limit, 9e999) as may_run_again,
    ifnull(hold = worker_id, 0) and (crashes > 0 or not exists (
      select 1 from announced
      where announced.worker_id = counted.worker_id and (announced.priority, announced.run_at_ms, announced.id)
        >= (-counted.priority, counted.run_at_ms, counted.id)
    )) as held
  from counted
)
