-- Deletes a schedule that is not defined in code.
-- @param schedule_group text
-- @param name text
-- @returns name
delete from wadi_schedules
where group_name = coalesce(@guard(), :schedule_group) and name = :name and source = 'stored'
returning name
