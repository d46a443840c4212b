-- Says when a task was created: the time of all that were inserted with it.
-- @param id text
-- @returns created_at_ms
select created_at_ms
from cairnq_tasks
where id = :id::text
