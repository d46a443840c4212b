-- Reads the status of those of many tasks, by id, that are terminal; or of all the tasks that keys point at.
-- A key may move to another task, so whoever waits by key must learn the id of one that is not terminal too.
-- @param names_json json
-- @param by_key integer
-- @returns name, id, status
select i.name, t.id, t.status
from unnest(array(select jsonb_array_elements_text(:names_json::jsonb))) as i(name)
cross join lateral (
  select t.id, t.status from cairnq_tasks t
  where t.id = case
    when :by_key::integer = 1 then (select k.task_id from cairnq_task_keys k where k.key = i.name)
    else i.name
  end
  limit 1
) t
where :by_key::integer = 1 or t.status not in ('queued', 'running')
