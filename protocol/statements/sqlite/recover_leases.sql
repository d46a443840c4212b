-- Takes every task whose lease expired from its owner: canceled if a cancel was requested, queued while attempts are
-- left and fewer of its leases expired than may, else failed. One that is known not to have started is queued where it
-- was, as if it had been released. It must follow insert_crashes.
-- @param now_ms integer?
-- @returns id, name, queue, attempt, status
with now(ms) as not materialized (
  select coalesce(@guard(), cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
@expired(),
recovered as (
  select
    *,
    case
      when cancel_requested_at_ms is not null then 'canceled'
      when held or (attempt < max_attempts and crashes + 1 < crash_limit) then 'queued'
      else 'failed'
    end as status
  from expired
)
update cairnq_tasks as t set
  status = r.status,
  error = case
    when r.status <> 'failed' then t.error
    when r.attempt >= r.max_attempts then json_object(
      'type', 'LeaseExpired',
      'code', 'lease_expired',
      'message', 'the lease ran out on attempt ' || r.attempt || ' of ' || r.max_attempts,
      'retryable', json('false'),
      'details', json('{}')
    )
    else json_object(
      'type', 'TooManyCrashes',
      'code', 'max_crashes',
      'message', 'its worker vanished ' || (r.crashes + 1) || ' times: killed, frozen or out of memory',
      'retryable', json('false'),
      'details', json('{}')
    )
  end,
  attempt = r.attempt - (r.held and r.status = 'queued'),
  crashes = iif(r.held, t.crashes, r.crashes + 1),
  hold = null,
  worker_id = iif(r.status = 'queued', null, t.worker_id),
  progress = iif(r.status = 'queued', null, t.progress),
  message = iif(r.status = 'queued', null, t.message),
  run_at_ms = iif(r.status = 'queued' and not r.held, (select ms from now), t.run_at_ms),
  completed_at_ms = iif(r.status = 'queued', null, (select ms from now)),
  lease_until_ms = null,
  updated_at_ms = (select ms from now)
from recovered r
where t.id = r.id
returning id, name, queue, attempt + 0.0 as attempt, status
