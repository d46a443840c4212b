-- Points each key that is free at its new task.
-- A key that still has a task keeps it. It follows free_task_keys and insert_keyed_tasks in the same batch.
-- @only sqlite: Postgres takes the key locks first and does the rest in one statement
-- @param keys_json json
-- @param now_ms integer?
-- @returns key
with @now()
insert into cairnq_task_keys (key, task_id, created_at_ms, updated_at_ms)
select item.value->>'key', task.id, now.ms, now.ms
from now cross join json_each(:keys_json) item cross join cairnq_tasks task on task.id = item.value->>'id'
where true
on conflict (key) do nothing
returning key
