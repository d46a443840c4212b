-- Moves each schedule on to its next slot, if it still stands where the item says. A slot that was fired is remembered
-- with its task; if the tasks of the schedule failed as often in a row as it may, it is paused instead.
-- It ends the batch of insert_scheduled_tasks.
-- @param moves_json json
-- @param now_ms integer?
-- @returns group_name, name
with @now(),
moves as materialized (
  select
    item.value as item, item.value->>'task_id' as task_id,
    (select id from cairnq_tasks where id = item.value->>'task_id') as fired_id
  from json_each(coalesce(@guard(), :moves_json)) item
)
update wadi_schedules as schedule set
  next_at_ms = item->>'next_ms',
  last_slot_ms = iif(fired_id is null, schedule.last_slot_ms, item->>'slot_ms'),
  last_task_id = coalesce(fired_id, schedule.last_task_id),
  failures = case
    when task_id is null then schedule.failures
    when @has_failed_out() then schedule.failures + 1
    when fired_id is null then schedule.failures
    else case @last_status()
      when 'failed' then schedule.failures + 1
      when 'succeeded' then 0
      else schedule.failures
    end
  end,
  paused_at_ms = case when task_id is not null and @has_failed_out() then (select ms from now) end,
  paused_by = case when task_id is not null and @has_failed_out() then 'failures' end,
  updated_at_ms = (select ms from now)
from moves
where @is_slot(item)
returning group_name, name
