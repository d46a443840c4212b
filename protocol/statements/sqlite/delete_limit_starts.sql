-- Forgets the starts that have left the windows of the keys whose tasks this owner runs.
-- The batch of a limited claim sends it last, so that a key's starts stay few while it is in use.
-- @param worker_id text
-- @param now_ms integer?
-- @returns nothing
with @now()
delete from wadi_limit_starts
where (key, started_at_ms, worker_id) in (
  select start.key, start.started_at_ms, start.worker_id
  from (
    select distinct concurrency_key as key from cairnq_tasks
    where status = 'running' and concurrency_key <> '' and worker_id = :worker_id
  ) claimed
  join wadi_limits limits on limits.key = claimed.key
  join wadi_limit_starts start on start.key = limits.key
  where start.started_at_ms <= (select ms from now) - limits.rate_per_ms
)
