-- The highest priority of the queued tasks of a lane and key, and when the first task of that priority is due.
-- @param lane the row with the queue and the name
-- @param key the concurrency key
-- @param below? only priorities lower than this
(
  select priority, run_at_ms as first_ms from cairnq_tasks
  where @queued(@lane.queue, @lane.name, @key)
    and priority < @below
  order by priority desc, run_at_ms limit 1
)
