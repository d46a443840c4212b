-- What is asked of the queued task with the highest priority, of those an owner can name.
-- @param value what to return of the task
-- @param queue its queue
-- @param name its name
-- @param key its concurrency key
-- @param below? only priorities lower than this
(
  select @value from cairnq_tasks
  where @queued(@queue, @name, @key)
    and priority < @below
    and @claimable()
  order by priority desc limit 1
)
