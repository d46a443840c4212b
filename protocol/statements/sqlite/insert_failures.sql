-- Records in the history each attempt that failed.
-- It precedes settle_tasks in the same batch and has the same conditions: nothing is recorded for a lost lease, nor
-- where a requested cancel wins. Sent again, it adds nothing.
-- @only sqlite: Postgres does it within settle_tasks, which holds the locks
-- @param settlements_json json
-- @param now_ms integer?
-- @returns nothing
with @now()
insert into wadi_failures (task_id, failed_at_ms, attempt, kind, worker_id, error)
select task.id, now.ms, task.attempt, 'error', task.worker_id, item.value->'error'
from now
cross join json_each(:settlements_json) item
cross join cairnq_tasks task on task.id = item.value->>'id'
where @held(item.value->>'worker_id', now.ms) and +task.attempt = item.value->>'attempt'
  and +task.cancel_requested_at_ms is null
on conflict do nothing
