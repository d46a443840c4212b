-- Fails and undoes its batch, which cannot branch, unless the task is running under this token with its lease not run
-- out; with `unless_canceled` also if a cancel was requested. The error of the database names the reason.
-- The row stays locked to the end of the batch, so that nobody takes the task in between.
-- @param id text
-- @param worker_id text
-- @param unless_canceled integer
-- @param now_ms integer?
-- @returns refusal
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
held as materialized (
  select t.cancel_requested_at_ms
  from cairnq_tasks t
  where t.id = coalesce(@guard(), :id)
    and coalesce(t.status, '') = 'running'
    and t.worker_id = :worker_id
    and coalesce(t.lease_until_ms, 0) > (select ms from now)
  for update
)
select case
    when not exists (select from held) then 'wadi:lost_lease'
    when :unless_canceled::integer = 1 and exists (select from held where cancel_requested_at_ms is not null) then 'wadi:canceled'
  end::integer as refusal
