-- Whether an owner still holds a task: it runs under the owner's token and the lease has not expired. Each coalesce
-- keeps a planner with poor statistics on the primary key.
-- @param worker_id the owner's token
-- @param now_ms the present time
(
  coalesce(status, '') = 'running' and worker_id = @worker_id
  and coalesce(lease_until_ms, 0) > @now_ms
)
