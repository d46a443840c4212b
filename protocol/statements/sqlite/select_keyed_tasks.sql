-- Reads the task each submitted key points at now.
-- @only sqlite: Postgres takes the key locks first and does the rest in one statement
-- @param keys_json json
-- @returns task_key, task
select k.key as task_key, t.*
from json_each(:keys_json) i
cross join cairnq_task_keys k on k.key = i.value->>'key'
cross join cairnq_tasks t on t.id = k.task_id
