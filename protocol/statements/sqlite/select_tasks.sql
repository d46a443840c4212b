-- Reads many tasks by id. An unknown id has no row.
-- @param ids_json json
-- @param now_ms integer?
-- @returns task
select task.*, @expired_error(task, @present())
from json_each(:ids_json) item cross join cairnq_tasks task on task.id = item.value
