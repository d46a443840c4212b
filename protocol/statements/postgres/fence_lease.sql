-- Fails, and so undoes its batch, unless the task runs under this token and its lease has not expired.
-- With unless_canceled it also fails if a cancel was requested. A batch cannot branch, so the reason is in the text of
-- the database's error. The row stays locked to the end of the batch: no other can take the task before.
-- @param id text
-- @param worker_id text
-- @param unless_canceled integer
-- @param now_ms integer?
-- @returns refusal
with @now(),
held as materialized (
  select cancel_requested_at_ms
  from cairnq_tasks
  where id = coalesce(@guard(), :id) and @held(:worker_id, (select ms from now))
  for update
)
select case
    when not exists (select from held) then 'wadi:lost_lease'
    when :unless_canceled::integer = 1 and exists (select from held where cancel_requested_at_ms is not null)
      then 'wadi:canceled'
  end::integer as refusal
