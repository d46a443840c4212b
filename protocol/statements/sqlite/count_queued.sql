-- Counts the queued tasks of one queue, reading at most max_depth of them.
-- @param queue text
-- @param max_depth integer
-- @returns tasks
select count(*) as tasks
from (select 1 from cairnq_tasks where status = 'queued' and queue = +:queue limit +:max_depth)
