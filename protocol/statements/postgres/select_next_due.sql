-- Says when the next task of these lanes is due and when the next lease of any task runs out.
-- @param lanes_json json
-- @param now_ms integer?
-- @returns now_ms, run_at_ms, lease_until_ms
with recursive
now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
-- Through an array the planner expects 10 rows; any more and the recursion looks too costly to it.
declared as materialized (
  select lane->>'queue' as queue, lane->>'name' as name
  from unnest(array(select jsonb_array_elements(:lanes_json::jsonb))) as l(lane)
),
named(queue, name) as (
  select d.queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = d.queue
      order by t.name limit 1
    )
  from declared d where d.name is null
  union all
  select n.queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = n.queue and t.name > n.name
      order by t.name limit 1
    )
  from named n where n.name is not null
),
lanes as (
  select queue, name from declared where name is not null
  union all
  select queue, name from named where name is not null
),
levels(queue, name, priority) as (
  select l.queue, l.name, (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
      order by t.priority desc limit 1
    )
  from lanes l
  union all
  select l.queue, l.name, (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
        and t.priority < l.priority
      order by t.priority desc limit 1
    )
  from levels l where l.priority is not null
)
select
  (select ms from now) as now_ms,
  (
    select min((
      select t.run_at_ms from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
        and t.priority = l.priority
      order by t.run_at_ms limit 1
    )) from levels l where l.priority is not null
  ) as run_at_ms,
  (
    select t.lease_until_ms from cairnq_tasks t
    where t.status = 'running' and t.lease_until_ms is not null
    order by t.lease_until_ms limit 1
  ) as lease_until_ms
