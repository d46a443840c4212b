-- Reads one task by id, or by key where the id is null.
-- @param id text?
-- @param key text?
-- @returns task
select *
from cairnq_tasks
where id = coalesce(:id, (select task_id from cairnq_task_keys where key = +:key))
