-- Deletes the tasks of a list that ended up to the cutoff, with their keys and history.
-- @param ids_json json
-- @param status text?
-- @param cutoff_ms integer
-- @param scope text?
-- @returns id
with listed as materialized (
  select task.id
  from cairnq_tasks task
  where task.id = any(array(select * from @texts(coalesce(@guard(), @scope_guard(), :ids_json))))
    and task.status in ('succeeded', 'failed', 'canceled') and task.status = coalesce(:status::text, task.status)
    and coalesce(task.completed_at_ms, :cutoff_ms::bigint + 1) <= :cutoff_ms::bigint
  order by task.id
  for update
)
delete from cairnq_tasks task
using listed
where task.id = listed.id and @among(listed)
returning task.id
