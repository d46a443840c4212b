-- Deletes the schedules of a group that were defined in code and are not any more.
-- @param schedule_group text
-- @param revision integer
-- @param fingerprint text
-- @param names_json json
-- @returns nothing
delete from wadi_schedules
where group_name = coalesce(@guard(), :schedule_group::text) and source = 'code'
  and name <> all(array(select jsonb_array_elements_text(:names_json::jsonb)))
  and @schedule_group()
