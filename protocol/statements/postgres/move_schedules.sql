-- Moves each schedule on to its next slot, if it still stands where the item says. A slot that was fired is remembered
-- with its task; if the tasks of the schedule failed as often in a row as it may, it is paused instead.
-- It ends the batch of insert_scheduled_tasks.
-- @param moves_json json
-- @param now_ms integer?
-- @returns group_name, name
with @now()
update wadi_schedules schedule set
  next_at_ms = (item->>'next_ms')::bigint,
  last_slot_ms = case when fired.id is null then schedule.last_slot_ms else (item->>'slot_ms')::bigint end,
  last_task_id = coalesce(fired.id, schedule.last_task_id),
  failures = case
    when item->>'task_id' is null then schedule.failures
    when @has_failed_out() then schedule.failures + 1
    when fired.id is null then schedule.failures
    else case @last_status()
      when 'failed' then schedule.failures + 1
      when 'succeeded' then 0
      else schedule.failures
    end
  end,
  paused_at_ms = case when item->>'task_id' is not null and @has_failed_out() then now.ms end,
  paused_by = case when item->>'task_id' is not null and @has_failed_out() then 'failures' end,
  updated_at_ms = now.ms
from now
cross join @elements(:moves_json) as items(item)
left join lateral (
  select id from cairnq_tasks where id = item->>'task_id' limit 1
) fired on true
where @is_slot(item)
returning schedule.group_name, schedule.name
