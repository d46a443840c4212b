-- Records what a claim took under keys with a rate. The batch of the claim sends it after each claim statement; what was
-- recorded before is the same row again, with all tasks of that moment.
-- @param worker_id text
-- @returns nothing
insert into wadi_limit_starts (key, started_at_ms, worker_id, tasks)
select t.concurrency_key, t.updated_at_ms, t.worker_id, count(*)
from cairnq_tasks t join wadi_limits l on l.key = t.concurrency_key
where t.status = 'running' and t.concurrency_key <> '' and t.worker_id = :worker_id and l.rate_count is not null
group by t.concurrency_key, t.updated_at_ms, t.worker_id
on conflict (key, started_at_ms, worker_id) do update set tasks = excluded.tasks
