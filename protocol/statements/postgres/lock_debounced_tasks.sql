-- Locks the task behind each key that is submitted with 'debounce', whatever its status, so that the next statement
-- decides on the status it has then. It locks in the order of the ids, so that submits never deadlock.
-- @only postgres: SQLite has one writer at a time
-- @param keys_json json
-- @returns id
with submitted as materialized (
  select @task_of_key(item->>'key') as task_id
  from @elements(:keys_json) as items(item)
  where item->>'conflict' = 'debounce'
)
select locked.id
from (select task_id from submitted order by task_id) submitted
cross join lateral (select id from cairnq_tasks where id = submitted.task_id for update) locked
