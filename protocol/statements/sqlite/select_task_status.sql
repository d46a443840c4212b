-- Reads what changes while one task waits and runs, by id, or by key where the id is null.
-- @param id text?
-- @param key text?
-- @returns id, status, progress, message, attempt
select id, status, progress, message, attempt
from cairnq_tasks
where id = coalesce(:id, (select task_id from cairnq_task_keys where key = +:key))
