-- Deletes the tasks of a list that ended up to the cutoff, with their keys and history.
-- @param ids_json json
-- @param status text?
-- @param cutoff_ms integer
-- @param scope text?
-- @returns id
delete from cairnq_tasks
where id in (select value from json_each(coalesce(@guard(), @scope_guard(), :ids_json)))
  and +status in ('succeeded', 'failed', 'canceled') and +status = coalesce(:status, status)
  and +completed_at_ms <= :cutoff_ms
returning id
