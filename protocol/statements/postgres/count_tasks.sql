-- Counts the tasks of each queue and status; a null list means every queue.
-- Each of the three parts counts over an index of its rows alone. A queue without tasks has no row.
-- @param queues_json json?
-- @returns queue, status, tasks
select queue, 'queued' as status, count(*) as tasks
from cairnq_tasks
where status = 'queued' and @in_queues()
group by queue
union all
select queue, 'running', count(*)
from cairnq_tasks
where status = 'running' and lease_until_ms is not null and @in_queues()
group by queue
union all
select queue, status, count(*)
from cairnq_tasks
where completed_at_ms is not null and @in_queues()
group by queue, status
