-- Fails, and so undoes its batch, if a submitted key points at another task: at any task where the policy is 'reject',
-- at one of another name where 'own_name' is given. A batch cannot branch, so the text of the database's error names
-- the refused task and the one that has the key. It follows the submit in the same batch; a submit that was sent before
-- passes.
-- @param keys_json json
-- @returns refusal
with taken as materialized (
  select item, @task_of_key(item->>'key') as task_id
  from @elements(:keys_json) as items(item)
)
select ('wadi:already_exists ' || min((item->>'id') || ' ' || task_id))::integer as refusal
from taken
where task_id <> item->>'id'
  and (
    item->>'conflict' = 'reject'
    or (select name from cairnq_tasks where id = task_id) <> item->>'own_name'
  )
  and not @is_sent(item)
