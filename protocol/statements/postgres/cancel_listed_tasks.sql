-- Cancels the queued tasks of a list, and asks the running ones to stop and notifies their workers.
-- A task is left alone and not returned if it was created after the cutoff, if its status is not the one that is given,
-- or as cancel_task leaves it. Rows are locked in the order of their ids, as settle_tasks does.
-- @param ids_json json
-- @param status text?
-- @param cutoff_ms integer
-- @param now_ms integer?
-- @returns id, status
with @now(),
listed as materialized (
  select task.id
  from cairnq_tasks task
  where task.id = any(array(select * from @texts(coalesce(@guard(), :ids_json))))
    and task.created_at_ms <= :cutoff_ms::bigint and task.status = coalesce(:status::text, task.status)
    and not @is_expired(task, (select ms from now))
    and (task.status = 'queued' or (task.status = 'running' and task.cancel_requested_at_ms is null))
  order by task.id
  for update
)
update cairnq_tasks task set
  status = case task.status when 'queued' then 'canceled' else task.status end,
  cancel_requested_at_ms = now.ms,
  completed_at_ms = case task.status when 'queued' then now.ms else task.completed_at_ms end,
  updated_at_ms = now.ms
from listed cross join now
where task.id = listed.id and @among(listed)
returning @canceled_id(task), task.status
