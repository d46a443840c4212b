-- Reads the id and status of one task by id, or by key where the id is null.
-- @param id text?
-- @param key text?
-- @returns id, status
select id, status
from cairnq_tasks
where id = coalesce(:id, (select task_id from cairnq_task_keys where key = +:key))
