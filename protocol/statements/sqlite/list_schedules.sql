-- Lists schedules in the order of their groups and names, each with the present time. Null filters match everything.
-- @param schedule_group text?
-- @param name text?
-- @param max_schedules integer
-- @param now_ms integer?
-- @returns schedule
with @now()
select schedule.*, now.ms as now_ms
from now cross join wadi_schedules schedule
where (:schedule_group is null or schedule.group_name = :schedule_group)
  and (:name is null or schedule.name = :name)
order by schedule.group_name, schedule.name
limit :max_schedules
