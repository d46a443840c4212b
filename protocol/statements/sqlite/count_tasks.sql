-- Counts tasks by queue and status, each part over a covering index. A null list means every queue.
-- @param queues_json json?
-- @returns queue, status, tasks
select queue, 'queued' as status, count(*) as tasks
from cairnq_tasks
where status = 'queued' and (:queues_json is null or queue in (select value from json_each(:queues_json)))
group by queue
union all
select queue, 'running', count(*)
from cairnq_tasks
where status = 'running' and lease_until_ms is not null
  and (:queues_json is null or queue in (select value from json_each(:queues_json)))
group by queue
union all
select queue, status, count(*)
from cairnq_tasks
where completed_at_ms is not null
  and (:queues_json is null or queue in (select value from json_each(:queues_json)))
group by queue, status
