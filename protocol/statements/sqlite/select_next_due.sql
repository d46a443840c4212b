-- Says when the next task of these lanes is due and when the next lease of any task runs out.
-- @param lanes_json json
-- @param now_ms integer?
-- @returns now_ms, run_at_ms, lease_until_ms
with recursive
now(ms) as materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
declared(queue, name) as materialized (
  select value->>'queue', value->>'name' from json_each(:lanes_json)
),
named(queue, name) as (
  select queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = declared.queue
      order by t.name limit 1
    )
  from declared where name is null
  union all
  select queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = named.queue and t.name > named.name
      order by t.name limit 1
    )
  from named where name is not null
),
lanes(queue, name) as (
  select queue, name from declared where name is not null
  union all
  select queue, name from named where name is not null
),
levels(queue, name, priority) as (
  select queue, name, (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = lanes.queue and t.name = lanes.name and t.concurrency_key = ''
      order by t.priority desc limit 1
    )
  from lanes
  union all
  select queue, name, (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = levels.queue and t.name = levels.name and t.concurrency_key = ''
        and t.priority < levels.priority
      order by t.priority desc limit 1
    )
  from levels where priority is not null
)
select
  (select ms from now) as now_ms,
  (
    select min((
      select t.run_at_ms from cairnq_tasks t
      where t.status = 'queued' and t.queue = levels.queue and t.name = levels.name and t.concurrency_key = ''
        and t.priority = levels.priority
      order by t.run_at_ms limit 1
    )) from levels where priority is not null
  ) as run_at_ms,
  (
    select t.lease_until_ms from cairnq_tasks t
    where t.status = 'running' and t.lease_until_ms is not null
    order by t.lease_until_ms limit 1
  ) as lease_until_ms
