-- Reads which of these leases their owners still hold, and which tasks were asked to stop. Nothing is extended.
-- @param leases_json json
-- @param now_ms integer?
-- @returns id, cancel_requested
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
leases as materialized (
  select item->>'id' as id, item->>'worker_id' as worker_id
  from jsonb_array_elements(:leases_json::jsonb) as i(item)
)
select h.id, h.cancel_requested
from leases l
cross join lateral (
  select t.id, (t.cancel_requested_at_ms is not null)::int as cancel_requested
  from cairnq_tasks t
  where t.id = l.id
    and coalesce(t.status, '') = 'running'
    and t.worker_id = l.worker_id
    and coalesce(t.lease_until_ms, 0) > (select ms from now)
  offset 0
) h
