-- Fails and undoes its batch, which cannot branch, unless the task is running under this token with its lease not run
-- out; with `unless_canceled` also if a cancel was requested. The error of the database names the reason.
-- @param id text
-- @param worker_id text
-- @param unless_canceled integer
-- @param now_ms integer?
-- @returns refusal
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
select json_extract('{}', case
    when t.id is null then 'wadi:lost_lease'
    when :unless_canceled = 1 and t.cancel_requested_at_ms is not null then 'wadi:canceled'
  end) as refusal
from now left join cairnq_tasks t
  on t.id = coalesce(@guard(), :id) and +t.status = 'running' and +t.worker_id = :worker_id and +t.lease_until_ms > now.ms
