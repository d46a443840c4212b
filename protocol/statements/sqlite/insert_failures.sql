-- Records each attempt that failed in the history, before settle_tasks of the same batch ends it. It has the same
-- conditions: nothing is recorded for a lost lease, nor where a requested cancel wins.
-- @only sqlite: Postgres does it within settle_tasks, which holds the locks
-- @param settlements_json json
-- @param now_ms integer?
-- @returns nothing
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
insert into wadi_failures (task_id, failed_at_ms, attempt, kind, worker_id, error)
select t.id, now.ms, t.attempt, 'error', t.worker_id, s.value->'error'
from now cross join json_each(:settlements_json) s cross join cairnq_tasks t on t.id = s.value->>'id'
where +t.status = 'running' and +t.worker_id = s.value->>'worker_id' and +t.attempt = s.value->>'attempt'
  and +t.lease_until_ms > now.ms and +t.cancel_requested_at_ms is null
on conflict do nothing
