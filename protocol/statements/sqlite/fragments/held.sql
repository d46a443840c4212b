-- Whether an owner still holds a task: it runs under the owner's token and the lease has not expired. Each plus keeps
-- the planner on the primary key.
-- @param worker_id the owner's token
-- @param now_ms the present time
(+status = 'running' and +worker_id = @worker_id and +lease_until_ms > @now_ms)
