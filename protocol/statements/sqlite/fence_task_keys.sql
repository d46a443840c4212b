-- Fails and undoes its batch, which cannot branch, if a key has another task: of any name where the policy is 'reject', of
-- another name where 'own_name' is given. The error of the database names the ids of the refused task and the one there is.
-- It follows the submit in the same batch; a submit whose own task is there was sent before.
-- @param keys_json json
-- @returns refusal
select json_extract('{}', 'wadi:already_exists ' || min((i.value->>'id') || ' ' || k.task_id)) as refusal
from json_each(:keys_json) i
cross join cairnq_task_keys k on k.key = i.value->>'key'
where k.task_id <> i.value->>'id'
  and (
    i.value->>'conflict' = 'reject'
    or exists (select 1 from cairnq_tasks t where t.id = k.task_id and t.name <> i.value->>'own_name')
  )
  and not exists (select 1 from cairnq_tasks own where own.id = i.value->>'id')
