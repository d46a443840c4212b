-- Cancels the live task behind each key that is submitted with the policy 'replace', unless it is throttled.
-- A queued task is canceled, a running one is asked to stop and its worker notified. Where 'own_name' is given, a task
-- of another name is left alone: it keeps the key, and the submit is refused. A submit that was sent before changes
-- nothing.
-- @param keys_json json
-- @param now_ms integer?
-- @returns id
with @now(),
replaced as materialized (
  select present.id, item->>'own_name' as own_name
  from @elements(:keys_json) as items(item)
  cross join lateral (select @task_of_key(item->>'key') as id) present
  where item->>'conflict' = 'replace'
    and (
      (select created_at_ms from cairnq_tasks where id = present.id)
      > (select ms from now) - (item->>'throttle_ms')::bigint
    ) is not true
    and not @is_sent(item)
),
locked as materialized (
  select locked.id
  from (select id, own_name from replaced order by id) replaced
  cross join lateral (
    select id from cairnq_tasks
    where id = replaced.id and coalesce(status, '') in ('queued', 'running')
      and name = coalesce(replaced.own_name, name)
    for update
  ) locked
)
update cairnq_tasks task set
  status = case task.status when 'queued' then 'canceled' else task.status end,
  cancel_requested_at_ms = coalesce(task.cancel_requested_at_ms, (select ms from now)),
  completed_at_ms = case task.status when 'queued' then (select ms from now) else task.completed_at_ms end,
  updated_at_ms = (select ms from now)
from locked
where task.id = locked.id
returning @canceled_id(task)
