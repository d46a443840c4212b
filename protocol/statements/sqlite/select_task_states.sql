-- Reads the states of many tasks: of those by id only the terminal ones, of watched ids and of keys all.
-- A key may move to another task, so that a wait by key needs the id of one that is not terminal too.
-- @param ids_json json
-- @param watched_json json
-- @param keys_json json
-- @param now_ms integer?
-- @returns name, by_key, id, status, progress, message, attempt
select
  asked.name, asked.by_key, task.id, @status_of(task, @present()) as status, task.progress, task.message, task.attempt
from (
  select value as name, 0 as by_key, 0 as is_whole from json_each(:ids_json)
  union all
  select value, 0, 1 from json_each(:watched_json)
  union all
  select value, 1, 1 from json_each(:keys_json)
) asked
cross join cairnq_tasks task on task.id = case
  when asked.by_key then (select task_key.task_id from cairnq_task_keys task_key where task_key.key = asked.name)
  else asked.name
end
where asked.is_whole or @status_of(task, @present()) not in ('queued', 'running')
