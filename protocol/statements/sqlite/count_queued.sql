-- Counts the queued tasks of one queue, up to max_depth.
-- It reads no more index entries than it counts, so a deep backlog costs no more than the limit that is asked about.
-- @param queue text
-- @param max_depth integer
-- @returns tasks
select count(*) as tasks
from (select 1 from cairnq_tasks where status = 'queued' and queue = +:queue limit +:max_depth)
