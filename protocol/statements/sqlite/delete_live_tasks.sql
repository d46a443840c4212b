-- Deletes tasks that are running or queued, with their keys and history, if the database belongs to another scope than
-- the client's: those that a copy of a database brought along. Tasks that have ended stay.
-- @param max_tasks integer
-- @param scope text?
-- @returns id
delete from cairnq_tasks
where id in (
  select id
  from (
    select id from cairnq_tasks where status = 'running' and lease_until_ms is not null
    union all
    select id from cairnq_tasks where status = 'queued'
  )
  where @is_foreign()
  limit +coalesce(@guard(), :max_tasks)
)
returning id
