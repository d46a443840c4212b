-- Ends an attempt as succeeded, in a batch that `fence_lease` opened: the fence has looked at the lease's time, and
-- what ran since then must not change the answer.
-- @param id text
-- @param worker_id text
-- @param result json
-- @param now_ms integer?
-- @returns id
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
update cairnq_tasks set
  status = 'succeeded',
  result = :result,
  error = null,
  progress = 1,
  lease_until_ms = null,
  completed_at_ms = (select ms from now),
  updated_at_ms = (select ms from now)
where id = :id and +status = 'running' and +worker_id = :worker_id
returning id
