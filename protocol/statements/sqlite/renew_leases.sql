-- Extends the leases that their owners still hold, and reports which of the tasks were asked to stop.
-- A lease that is absent from the result is lost, and is not extended.
-- @param leases_json json
-- @param lease_ms integer
-- @param now_ms integer?
-- @returns id, cancel_requested
with @now()
update cairnq_tasks set
  lease_until_ms = (select ms from now) + cast(:lease_ms as integer),
  updated_at_ms = (select ms from now)
where id in (
  select task.id
  from now
  cross join json_each(coalesce(@guard(), :leases_json)) item
  cross join cairnq_tasks task on task.id = item.value->>'id'
  where @held(item.value->>'worker_id', now.ms)
)
returning id, cancel_requested_at_ms is not null as cancel_requested
