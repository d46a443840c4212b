-- Lists the failed attempts of a task, oldest first. A task that never failed, or is unknown, has none.
-- @param id text
-- @returns failure
select attempt, kind, error, worker_id, failed_at_ms
from wadi_failures
where task_id = :id
order by failed_at_ms, attempt
