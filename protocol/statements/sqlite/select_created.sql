-- Reads when a task was created, which is the time of all tasks that were submitted in the same statement.
-- @param id text
-- @returns created_at_ms
select created_at_ms
from cairnq_tasks
where id = +:id
