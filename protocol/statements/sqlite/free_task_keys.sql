-- Frees each key whose present task the submitted policy does not hand back.
-- @only sqlite: Postgres takes the key locks first and does the rest in one statement
-- @param tasks_json json
-- @returns key
delete from cairnq_task_keys
where key in (
  select k.key
  from json_each(:tasks_json) i
  cross join cairnq_task_keys k on k.key = i.value->>'key'
  left join cairnq_tasks t on t.id = k.task_id
  where not exists (select 1 from cairnq_tasks own where own.id = i.value->>'id')
    and case i.value->>'conflict'
      when 'reuse' then coalesce(t.status, '') not in ('queued', 'running')
      when 'reuse-succeeded' then coalesce(t.status, '') not in ('queued', 'running', 'succeeded')
      when 'replace' then 1
      else t.id is null
    end
)
returning key
