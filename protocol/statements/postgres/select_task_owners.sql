-- Reads which attempt of each task is the latest, under which token, and how it stands.
-- A settlement that is sent again compares them with its own, and so knows whether the first one arrived.
-- @param ids_json json
-- @returns id, status, worker_id, attempt
select owned.id, owned.status, owned.worker_id, owned.attempt
from jsonb_array_elements_text(:ids_json::jsonb) as ids(id)
cross join lateral (
  select id, status, worker_id, attempt from cairnq_tasks where id = ids.id limit 1
) owned
