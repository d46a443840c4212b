-- Takes every task whose lease has expired from its owner: canceled if a cancel was requested, queued while it has
-- attempts left and fewer crashes than it may have, else failed. A task that is known not to have started is queued in
-- its place, as if its owner had released it. It must follow insert_crashes in the same batch.
-- @param scope text?
-- @param now_ms integer?
-- @returns id, name, queue, attempt, status
with now(ms) as not materialized (select coalesce(@guard(), @scope_guard(), @present())),
@expired(),
recovered as (
  select
    *,
    case
      when cancel_requested_at_ms is not null then 'canceled'
      when held or may_run_again then 'queued'
      else 'failed'
    end as status
  from expired
)
update cairnq_tasks as task set
  status = recovered.status,
  error = case
    when recovered.status <> 'failed' then task.error
    when recovered.attempt >= recovered.max_attempts then json_object(
      'type', 'LeaseExpired',
      'code', 'lease_expired',
      'message', 'the lease expired on attempt ' || recovered.attempt || ' of ' || recovered.max_attempts,
      'retryable', json('false'),
      'details', json('{}')
    )
    else json_object(
      'type', 'TooManyCrashes',
      'code', 'max_crashes',
      'message', 'its worker vanished ' || (recovered.earlier_crashes + 1) || ' times: killed, frozen or out of memory',
      'retryable', json('false'),
      'details', json('{}')
    )
  end,
  attempt = recovered.attempt - (recovered.held and recovered.status = 'queued'),
  crashes = iif(recovered.held, task.crashes, recovered.earlier_crashes + 1),
  hold = null,
  worker_id = iif(recovered.status = 'queued', null, task.worker_id),
  progress = iif(recovered.status = 'queued', null, task.progress),
  message = iif(recovered.status = 'queued', null, task.message),
  run_at_ms = iif(recovered.status = 'queued' and not recovered.held, (select ms from now), task.run_at_ms),
  completed_at_ms = iif(recovered.status = 'queued', null, (select ms from now)),
  lease_until_ms = null,
  updated_at_ms = (select ms from now)
from recovered
where task.id = recovered.id
returning id, name, queue, attempt + 0.0 as attempt, status
