-- Makes the database belong to the scope of the client once nothing is left of what the scope before it had queued.
-- It must follow the statements that delete that in the same batch.
-- @param scope text?
-- @returns nothing
update cairnq_meta set value = coalesce(@guard(), :scope)
where key = 'wadi_scope'
  and not exists (select 1 from cairnq_tasks where status = 'queued')
  and not exists (select 1 from cairnq_tasks where status = 'running' and lease_until_ms is not null)
  and not exists (select 1 from wadi_schedules)
