-- Counts due tasks in the queues of these lanes whose names no lane takes: of each name those among its first 100, and of
-- at most max_names names.
-- @param lanes_json json
-- @param max_names integer
-- @param now_ms integer?
-- @returns queue, name, tasks
with recursive
now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
lanes as materialized (
  select lane->>'queue' as queue, lane->>'name' as name
  from unnest(array(select jsonb_array_elements(:lanes_json::jsonb))) as l(lane)
),
names(queue, name) as (
  select q.queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = q.queue
      order by t.name limit 1
    )
  from (select distinct queue from lanes) q
  union all
  select names.queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = names.queue and t.name > names.name
      order by t.name limit 1
    )
  from names where names.name is not null
)
select n.queue, n.name, c.tasks
from names n
cross join lateral (
  select count(*) as tasks from (
    select t.run_at_ms from cairnq_tasks t
    where t.status = 'queued' and t.queue = n.queue and t.name = n.name
    limit 100
  ) first where first.run_at_ms <= (select ms from now)
) c
where n.name is not null and c.tasks > 0
  and not exists (select 1 from lanes l where l.queue = n.queue and coalesce(l.name, n.name) = n.name)
limit :max_names::bigint
