-- Locks the task behind each key that is submitted with 'debounce', whatever its status, so that the next statement
-- decides on the status it has then. In the order of the ids, so that submits never deadlock.
-- @only postgres: SQLite has one writer at a time
-- @param keys_json json
-- @returns id
with submitted as materialized (
  select (select k.task_id from cairnq_task_keys k where k.key = item->>'key') as task_id
  from unnest(array(select jsonb_array_elements(:keys_json::jsonb))) as i(item)
  where item->>'conflict' = 'debounce'
)
select t.id
from (select task_id from submitted order by task_id) s
cross join lateral (select t.id from cairnq_tasks t where t.id = s.task_id for update) t
