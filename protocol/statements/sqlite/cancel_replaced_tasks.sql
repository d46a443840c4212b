-- Cancels the live task behind each key that is submitted with the policy 'replace', unless it is throttled.
-- A queued task is canceled, a running one is asked to stop. Where 'own_name' is given, a task of another name is left
-- alone: it keeps the key, and the submit is refused. A submit that was sent before changes nothing.
-- @param keys_json json
-- @param now_ms integer?
-- @returns id
with @now()
update cairnq_tasks set
  status = case status when 'queued' then 'canceled' else status end,
  cancel_requested_at_ms = coalesce(cancel_requested_at_ms, (select ms from now)),
  completed_at_ms = case status when 'queued' then (select ms from now) else completed_at_ms end,
  updated_at_ms = (select ms from now)
where id in (
    select task_key.task_id
    from json_each(:keys_json) item
    cross join cairnq_task_keys task_key on task_key.key = item.value->>'key'
    where item.value->>'conflict' = 'replace'
      and not @is_sent(item.value)
      and not exists (
        select 1 from cairnq_tasks
        where id = task_key.task_id and (
          created_at_ms > (select ms from now) - (item.value->>'throttle_ms')
          or name <> item.value->>'own_name'
        )
      )
  )
  and +status in ('queued', 'running')
returning id
