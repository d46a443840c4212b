-- Reads what changes while one task waits and runs, by id, or by key where the id is null.
-- @param id text?
-- @param key text?
-- @returns id, status, progress, message, attempt
select t.id, t.status, t.progress, t.message, t.attempt
from cairnq_tasks t
where t.id = coalesce(:id::text, (select k.task_id from cairnq_task_keys k where k.key = :key::text))
