-- Queues the task of each slot that a schedule fires, as it is stored with the schedule; an item brings the payload and
-- the concurrency key only where the schedule does not know them. A slot that was fired before adds nothing.
-- @param tasks_json json
-- @param now_ms integer?
-- @returns id, queue
with @now()
insert into cairnq_tasks (@new_task())
select
  item.value->>'id', schedule.task->>'name', schedule.task->>'queue', 'queued',
  coalesce(item.value->'payload', schedule.task->'payload'), schedule.task->'metadata',
  schedule.task->>'max_attempts', schedule.task->>'max_crashes', schedule.task->>'max_crashes',
  schedule.task->>'priority', item.value->>'run_at_ms',
  max(now.ms, item.value->>'run_at_ms') + (schedule.task->>'expires_in_ms'),
  null, item.value->>'id', schedule.task->>'correlation_id',
  coalesce(item.value->>'concurrency_key', schedule.task->>'concurrency_key', ''), schedule.task->'on_failed',
  now.ms, now.ms
from now
cross join json_each(coalesce(@guard(), :tasks_json)) item
cross join wadi_schedules schedule
where @fires(item.value)
on conflict (id) do nothing
returning id, queue
