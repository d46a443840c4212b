-- Reads which of these leases their owners still hold, and which tasks were asked to stop. Nothing is extended.
-- @param leases_json json
-- @param now_ms integer?
-- @returns id, cancel_requested
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
select t.id, t.cancel_requested_at_ms is not null as cancel_requested
from now cross join json_each(:leases_json) i cross join cairnq_tasks t on t.id = i.value->>'id'
where +t.status = 'running' and +t.worker_id = i.value->>'worker_id' and +t.lease_until_ms > now.ms
