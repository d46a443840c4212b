-- Fails and undoes its batch, which cannot branch, if a key has another task: of any name where the policy is 'reject', of
-- another name where 'own_name' is given. The error of the database names the ids of the refused task and the one there is.
-- It follows the submit in the same batch; a submit whose own task is there was sent before.
-- @param keys_json json
-- @returns refusal
with taken as materialized (
  select item, (select k.task_id from cairnq_task_keys k where k.key = item->>'key') as task_id
  from unnest(array(select jsonb_array_elements(:keys_json::jsonb))) as i(item)
)
select ('wadi:already_exists ' || min((item->>'id') || ' ' || task_id))::integer as refusal
from taken
where task_id <> item->>'id'
  and (
    item->>'conflict' = 'reject'
    or (select t.name from cairnq_tasks t where t.id = task_id) <> item->>'own_name'
  )
  and (select own.id from cairnq_tasks own where own.id = item->>'id') is null
