-- Frees each key whose present task the submit does not get back: by its throttle, else by its policy.
-- A live task of another name keeps its key where 'own_name' is given, and the submit is refused.
-- A replaced task has been canceled by now. A clock that passed the end of a throttle since then changes nothing.
-- @only sqlite: Postgres takes the key locks first and does the rest in one statement
-- @param keys_json json
-- @param now_ms integer?
-- @returns key
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
delete from cairnq_task_keys
where key in (
  select k.key
  from now
  cross join json_each(coalesce(@guard(), :keys_json)) i
  cross join cairnq_task_keys k on k.key = i.value->>'key'
  left join cairnq_tasks t on t.id = k.task_id
  where not exists (select 1 from cairnq_tasks own where own.id = i.value->>'id')
    and (t.created_at_ms > now.ms - (i.value->>'throttle_ms')) is not true
    and (t.name <> i.value->>'own_name' and t.status in ('queued', 'running')) is not true
    and case i.value->>'conflict'
      when 'reuse' then coalesce(t.status, '') not in ('queued', 'running')
      when 'reuse-succeeded' then coalesce(t.status, '') not in ('queued', 'running', 'succeeded')
      when 'replace' then t.id is null or coalesce(t.cancel_requested_at_ms, t.completed_at_ms) is not null
      when 'debounce' then coalesce(t.status, '') <> 'queued' or t.name <> i.value->>'name'
      else t.id is null
    end
)
returning key
