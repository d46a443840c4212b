-- Gives the queued task behind each key that is submitted with 'debounce' the newest payload, and pushes its due time.
-- A submit whose own task exists already was sent before and changes nothing.
-- A task that is not queued is locked too, so that the next statement decides on the same status.
-- @param tasks_json json
-- @param now_ms integer?
-- @returns id
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
submitted as materialized (
  select item, (select k.task_id from cairnq_task_keys k where k.key = item->>'key') as task_id
  from unnest(array(select jsonb_array_elements(:tasks_json::jsonb))) as i(item)
  where item->>'conflict' = 'debounce'
    and (select own.id from cairnq_tasks own where own.id = item->>'id') is null
),
locked as materialized (
  select t.id, t.status, t.name, s.item
  from (select item, task_id from submitted order by task_id) s
  cross join lateral (
    select t.id, t.status, t.name from cairnq_tasks t where t.id = s.task_id for update
  ) t
)
update cairnq_tasks t set
  payload = l.item->'payload',
  metadata = l.item->'metadata',
  concurrency_key = coalesce(l.item->>'concurrency_key', ''),
  run_at_ms = least(
    (select ms from now) + (l.item->>'delay_ms')::bigint, t.created_at_ms + (l.item->>'max_delay_ms')::bigint
  ),
  updated_at_ms = (select ms from now)
from locked l
where t.id = l.id and l.status = 'queued' and l.name = l.item->>'name'
returning t.id
