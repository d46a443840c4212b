-- Reads the tasks a claim token holds: what a claim took whose response was lost.
-- @param worker_id text
-- @returns task
select t.*
from cairnq_tasks t
where t.status = 'running' and t.lease_until_ms is not null and t.worker_id = :worker_id::text
