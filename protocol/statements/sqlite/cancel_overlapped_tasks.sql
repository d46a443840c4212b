-- Cancels the last task of each schedule that fires and replaces it: a queued task is canceled, a running one is asked
-- to stop. It precedes insert_scheduled_tasks in the same batch.
-- @param tasks_json json
-- @param now_ms integer?
-- @returns id
with @now()
update cairnq_tasks set
  status = case status when 'queued' then 'canceled' else status end,
  cancel_requested_at_ms = coalesce(cancel_requested_at_ms, (select ms from now)),
  completed_at_ms = case status when 'queued' then (select ms from now) else completed_at_ms end,
  updated_at_ms = (select ms from now)
where id in (
    select schedule.last_task_id
    from json_each(:tasks_json) item
    cross join wadi_schedules schedule
    where @fires(item.value) and schedule.overlap = 'replace'
  )
  and +status in ('queued', 'running')
returning id
