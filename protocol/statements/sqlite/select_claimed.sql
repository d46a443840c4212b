-- Reads the tasks a claim token holds: what a claim took whose response was lost.
-- @param worker_id text
-- @returns task
select @returned()
from cairnq_tasks
where status = 'running' and lease_until_ms is not null and +worker_id = :worker_id
