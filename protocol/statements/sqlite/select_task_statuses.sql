-- Reads the status of those of many tasks, by id, that are terminal; or of all the tasks that keys point at.
-- A key may move to another task, so whoever waits by key must learn the id of one that is not terminal too.
-- @param names_json json
-- @param by_key integer
-- @returns name, id, status
select i.value as name, t.id, t.status
from json_each(:names_json) i
cross join cairnq_tasks t on t.id = case
  when :by_key then (select k.task_id from cairnq_task_keys k where k.key = i.value)
  else i.value
end
where :by_key or +t.status not in ('queued', 'running')
