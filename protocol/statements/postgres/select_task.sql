-- Reads one task by id, or by key where the id is null.
-- @param id text?
-- @param key text?
-- @returns task
select t.*
from cairnq_tasks t
where t.id = coalesce(:id::text, (select k.task_id from cairnq_task_keys k where k.key = :key::text))
