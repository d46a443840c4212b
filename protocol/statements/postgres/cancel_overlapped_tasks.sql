-- Cancels the last task of each schedule that fires and replaces it: a queued task is canceled, a running one is asked
-- to stop and its worker notified. It precedes insert_scheduled_tasks in the same batch.
-- @param tasks_json json
-- @param now_ms integer?
-- @returns id
with @now(),
replaced as materialized (
  select schedule.last_task_id as id
  from @elements(:tasks_json) as items(item)
  cross join wadi_schedules schedule
  where @fires(item) and schedule.overlap = 'replace'
),
locked as materialized (
  select locked.id
  from (select id from replaced where id is not null order by id) replaced
  cross join lateral (
    select id from cairnq_tasks
    where id = replaced.id and coalesce(status, '') in ('queued', 'running')
    for update
  ) locked
)
update cairnq_tasks task set
  status = case task.status when 'queued' then 'canceled' else task.status end,
  cancel_requested_at_ms = coalesce(task.cancel_requested_at_ms, (select ms from now)),
  completed_at_ms = case task.status when 'queued' then (select ms from now) else task.completed_at_ms end,
  updated_at_ms = (select ms from now)
from locked
where task.id = locked.id
returning @canceled_id(task)
