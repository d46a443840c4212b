-- Reads many tasks by id.
-- @param ids_json json
-- @returns task
select t.*
from jsonb_array_elements_text(:ids_json::jsonb) as i(id)
cross join lateral (select * from cairnq_tasks where cairnq_tasks.id = i.id limit 1) t
