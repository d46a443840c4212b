-- Counts tasks by queue and status, each part over its own index. A null list means every queue.
-- @param queues_json json?
-- @returns queue, status, tasks
select t.queue, 'queued' as status, count(*) as tasks
from cairnq_tasks t
where t.status = 'queued'
  and (:queues_json::jsonb is null or t.queue = any(array(select jsonb_array_elements_text(:queues_json::jsonb))))
group by t.queue
union all
select t.queue, 'running', count(*)
from cairnq_tasks t
where t.status = 'running' and t.lease_until_ms is not null
  and (:queues_json::jsonb is null or t.queue = any(array(select jsonb_array_elements_text(:queues_json::jsonb))))
group by t.queue
union all
select t.queue, t.status, count(*)
from cairnq_tasks t
where t.completed_at_ms is not null
  and (:queues_json::jsonb is null or t.queue = any(array(select jsonb_array_elements_text(:queues_json::jsonb))))
group by t.queue, t.status
