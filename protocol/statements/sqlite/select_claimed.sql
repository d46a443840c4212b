-- Reads the tasks that run under a claim's token: what a claim took whose response was lost.
-- A claim that is sent again begins with it and adopts those tasks, so none of them waits for its lease to expire.
-- @param worker_id text
-- @returns task
select @returned()
from cairnq_tasks
where status = 'running' and lease_until_ms is not null and +worker_id = :worker_id
