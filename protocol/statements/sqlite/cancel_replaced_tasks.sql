-- Cancels the live task behind each key that is submitted with the policy 'replace', unless it is throttled.
-- A task of another name is left alone where 'own_name' is given: it has the key, and the submit is refused.
-- A submit whose own task exists already was sent before and changes nothing.
-- @param keys_json json
-- @param now_ms integer?
-- @returns id
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
)
update cairnq_tasks set
  status = case status when 'queued' then 'canceled' else status end,
  cancel_requested_at_ms = coalesce(cancel_requested_at_ms, (select ms from now)),
  completed_at_ms = case status when 'queued' then (select ms from now) else completed_at_ms end,
  updated_at_ms = (select ms from now)
where id in (
    select k.task_id
    from json_each(:keys_json) i
    cross join cairnq_task_keys k on k.key = i.value->>'key'
    where i.value->>'conflict' = 'replace'
      and not exists (select 1 from cairnq_tasks own where own.id = i.value->>'id')
      and not exists (
        select 1 from cairnq_tasks c
        where c.id = k.task_id and (
          c.created_at_ms > (select ms from now) - (i.value->>'throttle_ms') or c.name <> i.value->>'own_name'
        )
      )
  )
  and +status in ('queued', 'running')
returning id
