-- Locks the rows of schedules that are about to fire, in the order of their keys, so that of two drains the second one
-- finds them moved on. It precedes everything else of the batch.
-- @only postgres: SQLite has one writer at a time
-- @param moves_json json
-- @returns locks
with locked as materialized (
  select schedule.name
  from wadi_schedules schedule
  where (schedule.group_name, schedule.name) in (
    select item->>'group', item->>'name' from @elements(coalesce(@guard(), :moves_json)) as items(item)
  )
  order by schedule.group_name, schedule.name
  for update
)
select count(*) as locks from locked
