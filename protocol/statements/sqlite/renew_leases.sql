-- Extends the leases that their owners still hold and tells which tasks were asked to stop.
-- @param leases_json json
-- @param lease_ms integer
-- @param now_ms integer?
-- @returns id, cancel_requested
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
update cairnq_tasks set
  lease_until_ms = (select ms from now) + cast(:lease_ms as integer),
  updated_at_ms = (select ms from now)
where id in (
  select t.id
  from now cross join json_each(coalesce(@guard(), :leases_json)) i cross join cairnq_tasks t on t.id = i.value->>'id'
  where +t.status = 'running' and +t.worker_id = i.value->>'worker_id' and +t.lease_until_ms > now.ms
)
returning id, cancel_requested_at_ms is not null as cancel_requested
