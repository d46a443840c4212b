-- Reads which of these leases their owners still hold, and which of the tasks were asked to stop.
-- Nothing is extended. A lease that is absent from the result is lost.
-- @param leases_json json
-- @param now_ms integer?
-- @returns id, cancel_requested
with @now()
select task.id, task.cancel_requested_at_ms is not null as cancel_requested
from now cross join json_each(:leases_json) item cross join cairnq_tasks task on task.id = item.value->>'id'
where @held(item.value->>'worker_id', now.ms)
