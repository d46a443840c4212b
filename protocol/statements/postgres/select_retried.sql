-- Reads one task by id, or by key where the id is null, and the key that points at it now: a newer task may have taken it.
-- @param id text?
-- @param key text?
-- @returns task, task_key
select t.*, (select min(k.key) from cairnq_task_keys k where k.task_id = t.id) as task_key
from cairnq_tasks t
where t.id = coalesce(:id::text, (select k.task_id from cairnq_task_keys k where k.key = :key::text))
