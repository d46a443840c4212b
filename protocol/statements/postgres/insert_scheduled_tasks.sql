-- Queues the task of each slot that a schedule fires, as it is stored with the schedule; an item brings the payload and
-- the concurrency key only where the schedule does not know them. A slot that was fired before adds nothing.
-- @param tasks_json json
-- @param now_ms integer?
-- @returns id, queue
with @now()
insert into cairnq_tasks (@new_task())
select
  item->>'id', schedule.task->>'name', schedule.task->>'queue', 'queued',
  coalesce(item->'payload', schedule.task->'payload'), schedule.task->'metadata',
  (schedule.task->>'max_attempts')::integer, (schedule.task->>'max_crashes')::integer,
  (schedule.task->>'max_crashes')::integer, (schedule.task->>'priority')::integer, (item->>'run_at_ms')::bigint,
  greatest(now.ms, (item->>'run_at_ms')::bigint) + (schedule.task->>'expires_in_ms')::bigint,
  null, item->>'id', schedule.task->>'correlation_id',
  coalesce(item->>'concurrency_key', schedule.task->>'concurrency_key', ''), schedule.task->'on_failed',
  now.ms, now.ms
from now
cross join @elements(coalesce(@guard(), :tasks_json)) as items(item)
cross join wadi_schedules schedule
where @fires(item)
on conflict (id) do nothing
returning id, queue
