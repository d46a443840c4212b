-- Points the key of each slot at the task it got. It follows insert_scheduled_tasks in the same batch.
-- @param tasks_json json
-- @param now_ms integer?
-- @returns nothing
with @now()
insert into cairnq_task_keys (key, task_id, created_at_ms, updated_at_ms)
select item.value->>'key', task.id, now.ms, now.ms
from now cross join json_each(:tasks_json) item cross join cairnq_tasks task on task.id = item.value->>'id'
where true
on conflict (key) do nothing
