-- The id of the task that is meant: :id, or where it is null the task that :key points at.
coalesce(:id, (select task_id from cairnq_task_keys where key = +:key))
