-- Deletes schedules that a copy of a database brought along: those of another scope than the client's.
-- @param max_rows integer
-- @param scope text?
-- @returns nothing
delete from wadi_schedules
where (group_name, name) in (select group_name, name from wadi_schedules where @is_foreign() limit +:max_rows)
