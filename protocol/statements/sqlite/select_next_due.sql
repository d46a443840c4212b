-- Says when the next task of these lanes is due and when the next lease of any task runs out.
-- The levels are the priorities in use; one above every priority stands for a lane that has yet to list its names.
-- @param lanes_json json
-- @param now_ms integer?
-- @returns now_ms, run_at_ms, lease_until_ms
with recursive
now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
levels(queue, name, priority) as (
  select value->>'queue', coalesce(value->>'name', (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = value->>'queue'
      order by t.name limit 1
    )), case when value->>'name' is null then 2147483648 else (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = value->>'queue' and t.name = value->>'name' and t.concurrency_key = ''
      order by t.priority desc limit 1
    ) end
  from json_each(:lanes_json)
  union all
  select queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = levels.queue and t.name > levels.name
      order by t.name limit 1
    ), priority
  from levels where priority = 2147483648 and name is not null
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
