-- Frees each submitted key whose present task the submit does not get: by its throttle, else by its policy.
-- Where 'own_name' is given, a live task of another name keeps its key, and the submit is refused. A task that is to be
-- replaced has been canceled by now, so a clock that passes the end of a throttle in between changes nothing.
-- @only sqlite: Postgres takes the key locks first and does the rest in one statement
-- @param keys_json json
-- @param now_ms integer?
-- @returns key
with @now()
delete from cairnq_task_keys
where key in (
  select task_key.key
  from now
  cross join json_each(coalesce(@guard(), :keys_json)) item
  cross join cairnq_task_keys task_key on task_key.key = item.value->>'key'
  left join cairnq_tasks task on task.id = task_key.task_id
  where not @is_sent(item.value)
    and (task.created_at_ms > now.ms - (item.value->>'throttle_ms')) is not true
    and (task.name <> item.value->>'own_name' and @status_of(task, now.ms) in ('queued', 'running'))
      is not true
    and case item.value->>'conflict'
      when 'reuse' then coalesce(@status_of(task, now.ms), '') not in ('queued', 'running')
      when 'reuse-succeeded' then coalesce(@status_of(task, now.ms), '') not in ('queued', 'running', 'succeeded')
      when 'replace' then task.id is null or @is_expired(task, now.ms)
        or coalesce(task.cancel_requested_at_ms, task.completed_at_ms) is not null
      when 'debounce' then coalesce(@status_of(task, now.ms), '') <> 'queued' or task.name <> item.value->>'name'
      else task.id is null
    end
)
returning key
