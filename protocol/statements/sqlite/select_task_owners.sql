-- Reads which attempt of each task is the latest, under which token, and how it stands.
-- A settlement that is sent again compares them with its own, and so knows whether the first one arrived.
-- @param ids_json json
-- @returns id, status, worker_id, attempt
select task.id, task.status, task.worker_id, task.attempt + 0.0 as attempt
from json_each(:ids_json) item cross join cairnq_tasks task on task.id = item.value
