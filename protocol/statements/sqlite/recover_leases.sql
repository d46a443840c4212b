-- Takes every task whose lease ran out from its owner: canceled if a cancel was requested, queued
-- while attempts are left and fewer of its leases ran out than may, else failed. It must follow insert_crashes.
-- @param now_ms integer?
-- @returns id, name, queue, attempt, status
with now(ms) as not materialized (
  select coalesce(@guard(), cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
update cairnq_tasks set
  status = case
    when cancel_requested_at_ms is not null then 'canceled'
    when attempt < max_attempts and crashes + 1 < max_crashes then 'queued'
    else 'failed'
  end,
  error = case
    when cancel_requested_at_ms is not null then error
    when attempt >= max_attempts then json_object(
      'type', 'LeaseExpired',
      'code', 'lease_expired',
      'message', 'the lease ran out on attempt ' || attempt || ' of ' || max_attempts,
      'retryable', json('false'),
      'details', json('{}')
    )
    when crashes + 1 >= max_crashes then json_object(
      'type', 'TooManyCrashes',
      'code', 'max_crashes',
      'message', 'its worker vanished ' || (crashes + 1) || ' times: killed, frozen or out of memory',
      'retryable', json('false'),
      'details', json('{}')
    )
    else error
  end,
  crashes = crashes + 1,
  worker_id = case when cancel_requested_at_ms is null and attempt < max_attempts and crashes + 1 < max_crashes then null else worker_id end,
  progress = case when cancel_requested_at_ms is null and attempt < max_attempts and crashes + 1 < max_crashes then null else progress end,
  message = case when cancel_requested_at_ms is null and attempt < max_attempts and crashes + 1 < max_crashes then null else message end,
  run_at_ms = case when cancel_requested_at_ms is null and attempt < max_attempts and crashes + 1 < max_crashes then (select ms from now) else run_at_ms end,
  completed_at_ms = case when cancel_requested_at_ms is null and attempt < max_attempts and crashes + 1 < max_crashes then null else (select ms from now) end,
  lease_until_ms = null,
  updated_at_ms = (select ms from now)
where status = 'running' and lease_until_ms is not null and lease_until_ms <= (select ms from now)
returning id, name, queue, attempt + 0.0 as attempt, status
