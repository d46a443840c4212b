-- Reads the task that each submitted key points at now.
-- It is the last statement of a keyed submit: the task is the submit's own, or the one the submit gets instead.
-- @only sqlite: Postgres takes the key locks first and does the rest in one statement
-- @param keys_json json
-- @param now_ms integer?
-- @returns task_key, task
select task_key.key as task_key, task.*, @expired_error(task, @present())
from json_each(:keys_json) item
cross join cairnq_task_keys task_key on task_key.key = item.value->>'key'
cross join cairnq_tasks task on task.id = task_key.task_id
