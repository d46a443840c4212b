-- The id of the task that a key points at, or null.
-- @param key the key
(select task_id from cairnq_task_keys where key = @key)
