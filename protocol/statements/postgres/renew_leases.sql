-- Extends the leases that their owners still hold and tells which tasks were asked to stop.
-- Rows are locked in the order of their ids, so that overlapping calls cannot deadlock.
-- The coalesce and the range of ids keep a planner with poor statistics on the primary key.
-- @param leases_json json
-- @param lease_ms integer
-- @param now_ms integer?
-- @returns id, cancel_requested
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
leases as materialized (
  select item->>'id' as id, item->>'worker_id' as worker_id
  from jsonb_array_elements(coalesce(@guard(), :leases_json)::jsonb) as i(item)
  order by id
),
held as (
  select t.id
  from leases l
  cross join lateral (
    select t.id from cairnq_tasks t
    where t.id = l.id
      and coalesce(t.status, '') = 'running'
      and t.worker_id = l.worker_id
      and coalesce(t.lease_until_ms, 0) > (select ms from now)
    for update
  ) t
)
update cairnq_tasks t set
  lease_until_ms = now.ms + :lease_ms::bigint,
  updated_at_ms = now.ms
from now
where t.id = any(array(select id from held)) and t.id between '' and (select max(id) from held)
returning t.id, (t.cancel_requested_at_ms is not null)::integer as cancel_requested
