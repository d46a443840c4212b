-- Reads many tasks by id. An unknown id has no row.
-- @param ids_json json
-- @param now_ms integer?
-- @returns task
select found.*, @expired_error(found, @present())
from jsonb_array_elements_text(:ids_json::jsonb) as ids(id)
cross join lateral (select * from cairnq_tasks where id = ids.id limit 1) found
