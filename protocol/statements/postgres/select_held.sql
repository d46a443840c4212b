-- Reads which of these leases their owners still hold, and which of the tasks were asked to stop.
-- Nothing is extended. A lease that is absent from the result is lost.
-- @param leases_json json
-- @param now_ms integer?
-- @returns id, cancel_requested
with @now(),
leases as materialized (
  select item->>'id' as id, item->>'worker_id' as worker_id
  from jsonb_array_elements(:leases_json::jsonb) as items(item)
)
select held.id, held.cancel_requested
from leases
cross join lateral (
  select id, (cancel_requested_at_ms is not null)::int as cancel_requested
  from cairnq_tasks
  where id = leases.id and @held(leases.worker_id, (select ms from now))
  offset 0
) held
