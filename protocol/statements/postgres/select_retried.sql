-- Reads one task by id, or by key where the id is null, and the key that points at it now.
-- The key is null where a newer task has taken it.
-- @param id text?
-- @param key text?
-- @param now_ms integer?
-- @returns task, task_key
select
  task.*, @expired_error(task, @present()),
  (select min(task_key.key) from cairnq_task_keys task_key where task_key.task_id = task.id) as task_key
from cairnq_tasks task
where task.id = @id_or_key()
