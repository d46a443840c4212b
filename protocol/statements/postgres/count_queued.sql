-- Counts the queued tasks of one queue, reading at most max_depth of them.
-- The range and the order leave the planner no better way than the queued index.
-- @param queue text
-- @param max_depth integer
-- @returns tasks
select count(*) as tasks
from (
  select 1 from cairnq_tasks t
  where t.status = 'queued' and t.queue between :queue::text and :queue::text
  order by t.queue, t.name
  limit :max_depth::bigint
) queued
