-- Resumes a schedule that is paused, from now on: slots that passed meanwhile are left out, and failures are counted
-- from 0.
-- @param schedule_group text
-- @param name text
-- @param now_ms integer?
-- @returns name
with @now()
update wadi_schedules as schedule set
  paused_at_ms = null,
  paused_by = null,
  from_ms = (select ms from now),
  failures = case when @last_status() = 'failed' then -1 else 0 end,
  updated_at_ms = (select ms from now)
where schedule.group_name = coalesce(@guard(), :schedule_group) and schedule.name = :name
  and schedule.paused_at_ms is not null
returning name
