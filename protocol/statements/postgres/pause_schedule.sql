-- Pauses a schedule. One that is paused already keeps its time.
-- @param schedule_group text
-- @param name text
-- @param now_ms integer?
-- @returns name
with @now()
update wadi_schedules set
  paused_at_ms = coalesce(paused_at_ms, (select ms from now)),
  paused_by = 'operator',
  updated_at_ms = (select ms from now)
where group_name = coalesce(@guard(), :schedule_group::text) and name = :name::text
returning name
