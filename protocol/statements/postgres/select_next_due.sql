-- Says when the next task of these lanes is due and when the next lease of any task runs out.
-- @param lanes_json json
-- @param now_ms integer?
-- @returns now_ms, run_at_ms, lease_until_ms
with recursive
now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
-- Through an array the planner expects 10 rows: more, and it takes the recursion for a costly one.
declared as materialized (
  select lane->>'queue' as queue, lane->>'name' as name
  from unnest(array(select jsonb_array_elements(:lanes_json::jsonb))) as l(lane)
),
lanes as (
  select d.queue, d.name from declared d where d.name is not null
  union all
  select d.queue, n.name
  from declared d
  cross join lateral unnest(array(
    with recursive names(name) as (
      (
        select t.name from cairnq_tasks t
        where t.status = 'queued' and t.queue = d.queue
        order by t.name limit 1
      )
      union all
      select (
        select t.name from cairnq_tasks t
        where t.status = 'queued' and t.queue = d.queue and t.name > names.name
        order by t.name limit 1
      )
      from names where names.name is not null
    )
    select names.name from names where names.name is not null
  )) as n(name)
  where d.name is null
),
levels(queue, name, priority, first_ms) as (
  select l.queue, l.name, p.priority, p.first_ms
  from lanes l
  cross join lateral (
    select t.priority, t.run_at_ms as first_ms from cairnq_tasks t
    where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
    order by t.priority desc, t.run_at_ms limit 1
  ) p
  union all
  select l.queue, l.name, p.priority, p.first_ms
  from levels l
  cross join lateral (
    select t.priority, t.run_at_ms as first_ms from cairnq_tasks t
    where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
      and t.priority < l.priority
    order by t.priority desc, t.run_at_ms limit 1
  ) p
)
select
  (select ms from now) as now_ms,
  (select min(l.first_ms) from levels l) as run_at_ms,
  (
    select t.lease_until_ms from cairnq_tasks t
    where t.status = 'running' and t.lease_until_ms is not null
    order by t.lease_until_ms limit 1
  ) as lease_until_ms
