-- The id of the task that is meant: :id, or where it is null the task that :key points at.
coalesce(:id::text, @task_of_key(:key::text))
