-- Fails and undoes its batch, which cannot branch, if a key that is submitted with the policy 'reject' has another
-- task. It follows the submit in a batch that somebody else sends; one whose own task is there was sent before.
-- @param tasks_json json
-- @returns refusal
select json_extract('{}', case when count(k.key) > 0 then 'wadi:already_exists' end) as refusal
from json_each(:tasks_json) i
cross join cairnq_task_keys k on k.key = i.value->>'key'
where i.value->>'conflict' = 'reject' and k.task_id <> i.value->>'id'
  and not exists (select 1 from cairnq_tasks own where own.id = i.value->>'id')
