-- How many tasks run under a concurrency key.
-- @param key the key
(
  select count(*) from cairnq_tasks
  where status = 'running' and concurrency_key = @key and concurrency_key <> ''
)
