-- Fails and undoes its batch, which cannot branch, if a key that is submitted with the policy 'reject' has another
-- task. It follows the submit in a batch that somebody else sends; one whose own task is there was sent before.
-- @param tasks_json json
-- @returns refusal
select case when count(*) > 0 then 'wadi:already_exists' end::integer as refusal
from unnest(array(select jsonb_array_elements(:tasks_json::jsonb))) as i(item)
where item->>'conflict' = 'reject'
  and (select k.task_id from cairnq_task_keys k where k.key = item->>'key') <> item->>'id'
  and (select own.id from cairnq_tasks own where own.id = item->>'id') is null
