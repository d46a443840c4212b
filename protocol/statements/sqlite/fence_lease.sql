-- Fails, and so undoes its batch, unless the task runs under this token and its lease has not expired.
-- With unless_canceled it also fails if a cancel was requested. A batch cannot branch, so the reason is in the text of
-- the database's error. SQLite has one writer: no other can take the task before the batch ends.
-- @param id text
-- @param worker_id text
-- @param unless_canceled integer
-- @param now_ms integer?
-- @returns refusal
with @now()
select json_extract('{}', case
    when task.id is null then 'wadi:lost_lease'
    when :unless_canceled = 1 and task.cancel_requested_at_ms is not null then 'wadi:canceled'
  end) as refusal
from now left join cairnq_tasks task on task.id = coalesce(@guard(), :id) and @held(:worker_id, now.ms)
