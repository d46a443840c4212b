-- Records what a claim started under keys that have a rate, at the time of the claim and under its token.
-- The batch of a claim sends it after each claim statement: what was recorded before becomes the same row again, with
-- all tasks of that moment.
-- @param worker_id text
-- @returns nothing
insert into wadi_limit_starts (key, started_at_ms, worker_id, tasks)
select task.concurrency_key, task.updated_at_ms, task.worker_id, count(*)
from cairnq_tasks task join wadi_limits limits on limits.key = task.concurrency_key
where task.status = 'running' and task.concurrency_key <> '' and task.worker_id = :worker_id::text
  and limits.rate_count is not null
group by task.concurrency_key, task.updated_at_ms, task.worker_id
on conflict (key, started_at_ms, worker_id) do update set tasks = excluded.tasks
