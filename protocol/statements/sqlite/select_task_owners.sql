-- Reads what tells who settled an attempt, of many tasks by id.
-- @param ids_json json
-- @returns id, status, worker_id, attempt
select t.id, t.status, t.worker_id, t.attempt + 0.0 as attempt
from json_each(:ids_json) i cross join cairnq_tasks t on t.id = i.value
