-- Reads what tells who settled an attempt, of many tasks by id.
-- @param ids_json json
-- @returns id, status, worker_id, attempt
select t.id, t.status, t.worker_id, t.attempt
from jsonb_array_elements_text(:ids_json::jsonb) as i(id)
cross join lateral (
  select c.id, c.status, c.worker_id, c.attempt from cairnq_tasks c where c.id = i.id limit 1
) t
