-- Cancels the live task behind each key that is submitted with the policy 'replace', unless it is throttled.
-- A task of another name is left alone where 'own_name' is given: it has the key, and the submit is refused.
-- A submit whose own task exists already was sent before and changes nothing.
-- The worker of a running task is notified: pg_notify returns nothing, which is added to the id.
-- @param keys_json json
-- @param now_ms integer?
-- @returns id
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
replaced as materialized (
  select k.id, item->>'own_name' as own_name
  from unnest(array(select jsonb_array_elements(:keys_json::jsonb))) as i(item)
  cross join lateral (select (select k.task_id from cairnq_task_keys k where k.key = item->>'key') as id) k
  where item->>'conflict' = 'replace'
    and (
      (select c.created_at_ms from cairnq_tasks c where c.id = k.id)
      > (select ms from now) - (item->>'throttle_ms')::bigint
    ) is not true
    and (select own.id from cairnq_tasks own where own.id = item->>'id') is null
),
locked as materialized (
  select t.id
  from (select id, own_name from replaced order by id) r
  cross join lateral (
    select t.id from cairnq_tasks t
    where t.id = r.id and coalesce(t.status, '') in ('queued', 'running') and t.name = coalesce(r.own_name, t.name)
    for update
  ) t
)
update cairnq_tasks t set
  status = case t.status when 'queued' then 'canceled' else t.status end,
  cancel_requested_at_ms = coalesce(t.cancel_requested_at_ms, (select ms from now)),
  completed_at_ms = case t.status when 'queued' then (select ms from now) else t.completed_at_ms end,
  updated_at_ms = (select ms from now)
from locked l
where t.id = l.id
returning t.id || coalesce(case t.status when 'running' then pg_notify('wadi_canceled', t.id)::text end, '') as id
