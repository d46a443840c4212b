-- Points the key of each slot at the task it got. It follows insert_scheduled_tasks in the same batch.
-- @param tasks_json json
-- @param now_ms integer?
-- @returns nothing
with @now()
insert into cairnq_task_keys (key, task_id, created_at_ms, updated_at_ms)
select item->>'key', task.id, now.ms, now.ms
from now
cross join @elements(:tasks_json) as items(item)
cross join lateral (select id from cairnq_tasks where id = item->>'id' limit 1) task
on conflict (key) do nothing
