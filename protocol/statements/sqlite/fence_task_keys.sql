-- Fails, and so undoes its batch, if a submitted key points at another task: at any task where the policy is 'reject',
-- at one of another name where 'own_name' is given. A batch cannot branch, so the text of the database's error names
-- the refused task and the one that has the key. It follows the submit in the same batch; a submit that was sent before
-- passes.
-- @param keys_json json
-- @returns refusal
select json_extract(
    '{}', 'wadi:already_exists ' || min((item.value->>'id') || ' ' || task_key.task_id)
  ) as refusal
from json_each(:keys_json) item
cross join cairnq_task_keys task_key on task_key.key = item.value->>'key'
where task_key.task_id <> item.value->>'id'
  and (
    item.value->>'conflict' = 'reject'
    or exists (
      select 1 from cairnq_tasks where id = task_key.task_id and name <> item.value->>'own_name'
    )
  )
  and not @is_sent(item.value)
