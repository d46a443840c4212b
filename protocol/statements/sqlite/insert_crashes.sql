-- Records each lease that expired in the history, before recover_leases of the same batch takes the task from its owner.
-- @only sqlite: Postgres does it within recover_leases
-- @param now_ms integer?
-- @returns nothing
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
@expired()
insert into wadi_failures (task_id, failed_at_ms, attempt, kind, worker_id, error)
select id, (select ms from now), attempt, 'crash', worker_id, json_object(
  'type', 'LeaseExpired',
  'code', 'lease_expired',
  'message', 'the lease of attempt ' || attempt || ' of ' || max_attempts || ' ran out ' || ((select ms from now) - lease_until_ms)
    || ' ms before it was noticed: its worker was killed, froze or ran out of memory',
  'retryable', json(iif(cancel_requested_at_ms is null and attempt < max_attempts and crashes + 1 < crash_limit, 'true', 'false')),
  'details', json_object('lease_until_ms', lease_until_ms)
)
from expired
where not held
on conflict do nothing
