-- Counts the queued tasks of one queue, up to max_depth.
-- It reads no more index entries than it counts, so a deep backlog costs no more than the limit that is asked about.
-- The range and the order leave the planner no better way than the queued index.
-- @param queue text
-- @param max_depth integer
-- @returns tasks
select count(*) as tasks
from (
  select 1 from cairnq_tasks
  where status = 'queued' and queue between :queue::text and :queue::text
  order by queue, name
  limit :max_depth::bigint
) queued
