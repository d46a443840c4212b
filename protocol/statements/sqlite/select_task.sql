-- Reads one task by id, or by key where the id is null. An unknown id or key has no row.
-- @param id text?
-- @param key text?
-- @param now_ms integer?
-- @returns task
select *, @expired_error(cairnq_tasks, @present())
from cairnq_tasks
where id = @id_or_key()
