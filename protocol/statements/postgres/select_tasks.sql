-- Reads many tasks by id.
-- @param ids_json json
-- @returns task
select t.*
from cairnq_tasks t
where t.id = any(array(select jsonb_array_elements_text(:ids_json::jsonb)))
