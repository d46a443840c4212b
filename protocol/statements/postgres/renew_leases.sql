-- Extends the leases that their owners still hold, and reports which of the tasks were asked to stop.
-- A lease that is absent from the result is lost, and is not extended. Rows are locked in the order of their ids, so
-- that calls that overlap never deadlock.
-- @param leases_json json
-- @param lease_ms integer
-- @param now_ms integer?
-- @returns id, cancel_requested
with @now(),
leases as materialized (
  select item->>'id' as id, item->>'worker_id' as worker_id
  from jsonb_array_elements(coalesce(@guard(), :leases_json)::jsonb) as items(item)
  order by id
),
held as (
  select locked.id
  from leases
  cross join lateral (
    select id from cairnq_tasks where id = leases.id and @held(leases.worker_id, (select ms from now)) for update
  ) locked
)
update cairnq_tasks task set
  lease_until_ms = now.ms + :lease_ms::bigint,
  updated_at_ms = now.ms
from now
where @among(held)
returning task.id, (task.cancel_requested_at_ms is not null)::integer as cancel_requested
