-- Reads the states of many tasks: of those by id only the terminal ones, of watched ids and of keys all.
-- A key may move to another task, so that a wait by key needs the id of one that is not terminal too.
-- @param ids_json json
-- @param watched_json json
-- @param keys_json json
-- @returns name, by_key, id, status, progress, message, attempt
select i.name, i.by_key, t.id, t.status, t.progress, t.message, t.attempt
from (
  select unnest(array(select jsonb_array_elements_text(:ids_json::jsonb))), 0, 0
  union all
  select unnest(array(select jsonb_array_elements_text(:watched_json::jsonb))), 0, 1
  union all
  select unnest(array(select jsonb_array_elements_text(:keys_json::jsonb))), 1, 1
) as i(name, by_key, is_whole)
cross join lateral (
  select t.id, t.status, t.progress, t.message, t.attempt from cairnq_tasks t
  where t.id = case
    when i.by_key = 1 then (select k.task_id from cairnq_task_keys k where k.key = i.name)
    else i.name
  end
  limit 1
) t
where i.is_whole = 1 or t.status not in ('queued', 'running')
