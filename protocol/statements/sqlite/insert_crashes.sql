-- Records in the history each lease that has expired.
-- It precedes recover_leases in the same batch and judges the tasks as that does; a task that is known not to have
-- started is not recorded.
-- @only sqlite: Postgres does it within recover_leases
-- @param now_ms integer?
-- @returns nothing
with @now(),
@expired()
insert into wadi_failures (task_id, failed_at_ms, attempt, kind, worker_id, error)
select id, (select ms from now), attempt, 'crash', worker_id, json_object(
  'type', 'LeaseExpired',
  'code', 'lease_expired',
  'message', 'the lease of attempt ' || attempt || ' of ' || max_attempts || ' expired '
    || ((select ms from now) - lease_until_ms)
    || ' ms before it was noticed: its worker was killed, froze or ran out of memory',
  'retryable', json(iif(cancel_requested_at_ms is null and may_run_again, 'true', 'false')),
  'details', json_object('lease_until_ms', lease_until_ms)
)
from expired
where not held
on conflict do nothing
