-- Reads many tasks by id.
-- @param ids_json json
-- @returns task
select t.*
from json_each(:ids_json) i cross join cairnq_tasks t on t.id = i.value
