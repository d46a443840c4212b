-- Reads the states of many tasks: of those by id only the terminal ones, of watched ids and of keys all.
-- A key may move to another task, so that a wait by key needs the id of one that is not terminal too.
-- @param ids_json json
-- @param watched_json json
-- @param keys_json json
-- @returns name, by_key, id, status, progress, message, attempt
select i.name, i.by_key, t.id, t.status, t.progress, t.message, t.attempt
from (
  select value as name, 0 as by_key, 0 as is_whole from json_each(:ids_json)
  union all
  select value, 0, 1 from json_each(:watched_json)
  union all
  select value, 1, 1 from json_each(:keys_json)
) i
cross join cairnq_tasks t on t.id = case
  when i.by_key then (select k.task_id from cairnq_task_keys k where k.key = i.name)
  else i.name
end
where i.is_whole or +t.status not in ('queued', 'running')
