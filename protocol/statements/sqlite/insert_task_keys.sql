-- Points each free key at its new task.
-- @only sqlite: Postgres takes the key locks first and does the rest in one statement
-- @param keys_json json
-- @param now_ms integer?
-- @returns key
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
insert into cairnq_task_keys (key, task_id, created_at_ms, updated_at_ms)
select i.value->>'key', t.id, now.ms, now.ms
from now cross join json_each(:keys_json) i cross join cairnq_tasks t on t.id = i.value->>'id'
where true
on conflict (key) do nothing
returning key
