-- Leases due tasks to one owner: per lane at most its quota, over all lanes at most max_tasks, in the
-- order priority desc, run_at_ms, id. A lane is a queue and a name; a null name means every name.
-- The walk is a priority queue with one entry a lane, so it reads what it takes and not the backlog.
-- @param lanes_json json
-- @param worker_id text
-- @param lease_ms integer
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns task
with recursive
now(ms) as materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
declared(queue, name, quota) as materialized (
  select value->>'queue', value->>'name', value->>'quota' from json_each(:lanes_json)
),
named(queue, name, quota) as (
  select queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = declared.queue
      order by t.name limit 1
    ), quota
  from declared where name is null
  union all
  select queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = named.queue and t.name > named.name
      order by t.name limit 1
    ), quota
  from named where name is not null
),
lanes(queue, name, quota) as (
  select queue, name, quota from declared where name is not null
  union all
  select queue, name, quota from named where name is not null
),
walk(queue, name, quota, priority, position, taken) as not materialized (
  select queue, name, quota, (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = lanes.queue and t.name = lanes.name and t.concurrency_key = ''
      order by t.priority desc limit 1
    ), '', 0
  from lanes
  union all
  select queue, name, quota,
    case when position <> 'end' then priority else (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = walk.queue and t.name = walk.name and t.concurrency_key = ''
        and t.priority < walk.priority
      order by t.priority desc limit 1
    ) end,
    case when position = 'end' then '' else coalesce((
      select printf('%015d', t.run_at_ms) || t.id from cairnq_tasks t
      where t.status = 'queued' and t.queue = walk.queue and t.name = walk.name and t.concurrency_key = ''
        and t.priority = walk.priority and t.run_at_ms <= (select ms from now)
        and (t.run_at_ms, t.id) > (cast(substr(walk.position, 1, 15) as integer), substr(walk.position, 16))
      order by t.run_at_ms, t.id limit 1
    ), 'end') end,
    taken + (position not in ('', 'end'))
  from walk
  where priority is not null and taken + (position not in ('', 'end')) < quota
  order by 4 desc, 5
)
update cairnq_tasks set
  status = 'running',
  worker_id = :worker_id,
  lease_until_ms = (select ms from now) + cast(:lease_ms as integer),
  attempt = attempt + 1,
  updated_at_ms = (select ms from now)
where id in (select substr(position, 16) from walk where position not in ('', 'end') limit +:max_tasks)
returning *
