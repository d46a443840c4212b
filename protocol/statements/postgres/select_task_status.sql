-- Reads the id and status of one task by id, or by key where the id is null.
-- @param id text?
-- @param key text?
-- @returns id, status
select t.id, t.status
from cairnq_tasks t
where t.id = coalesce(:id::text, (select k.task_id from cairnq_task_keys k where k.key = :key::text))
