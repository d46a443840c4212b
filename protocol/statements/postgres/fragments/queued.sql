-- Whether a task is queued in a queue, under a name and with a concurrency key if they are given.
-- @param queue the queue
-- @param name? the name
-- @param key? the concurrency key; '' for tasks without one
(
  status = 'queued' and queue = @queue
  and name = @name
  and concurrency_key = @key
)
